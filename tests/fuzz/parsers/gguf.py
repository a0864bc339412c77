"""GGUF files with a model and a tokenizer, read by the embedded backend."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

pytest.importorskip("gguf", reason="gguf is not installed")

from gguf import GGMLQuantizationType

from tests.fuzz.mutations import damaged_bytes
from tests.support.gguf_files import Write, merges_of, pieces_of, write_gguf
from tests.support.small_checkpoints import SETTINGS, tensors_of
from tests.support.tokenizers import HUGGING_FACE, SENTENCEPIECE
from ticore.registry import load_model

from .base import Parser
from .tokenizers import exercise

WIDTH = 704  # above the number of ids that either tokenizer has
_ODD = (0, 1, 2, 7, 8, 9, 31, 32, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)


@cache
def files() -> Sequence[bytes]:
    """A file with pieces and quantized matrices, and one with merges."""
    library: Any = HUGGING_FACE["hf-gpt2"]()._library
    merges = merges_of(json.loads(library.to_str()), "gpt-2")

    def with_start(writer: Any) -> None:
        merges(writer)
        writer.add_bos_token_id(1)

    pieces = pieces_of(SENTENCEPIECE["sp-bpe"]())
    return [_file(pieces, GGMLQuantizationType.Q8_0), _file(with_start, None)]


def _file(tokenizer: Write, kind: GGMLQuantizationType | None) -> bytes:
    settings = SETTINGS["llama"] | {"vocab_size": WIDTH, "head_dim": 8}

    def more(writer: Any) -> None:
        tokenizer(writer)
        writer.add_add_bos_token(True)

    with TemporaryDirectory() as folder:
        path = Path(folder, "file.gguf")
        tensors = tensors_of("llama", settings)
        write_gguf(path, "llama", settings, tensors, kind=kind, more=more)
        return path.read_bytes()


def damaged(draw: Random, data: bytes) -> bytes:
    """Numbers changed where they stand, in settings or in the table of tensors; or any bytes."""
    if draw.random() < 0.3:
        return damaged_bytes(draw, data)
    changed = bytearray(data)
    table = data.index(b"token_embd.weight")
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        settings, tensors = draw.randrange(1500), draw.randrange(table, table + 2000)
        at = draw.choice((draw.randrange(32), settings, tensors))
        number = draw.choice(_ODD) ^ (draw.random() < 0.2)
        size = draw.choice((1, 4, 8))
        changed[at : at + size] = struct.pack("<Q", number)[:size]
    return bytes(changed)


def open_model(content: bytes, path: Path) -> None:
    path = path.with_suffix(".gguf")
    path.write_bytes(content)
    model = load_model(f"embedded:{path}")
    exercise(model.tokenizer)
    with np.errstate(all="ignore"):  # weights may be anything
        logits = model.score([4, 5, 6])
    assert logits.shape == (3, model.logit_width)
    model.digest()


PARSERS = [Parser("GGUF", files, damaged, open_model, thorough=2000)]
