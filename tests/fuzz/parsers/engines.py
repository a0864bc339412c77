"""Other engines' settings of their watermarks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.fuzz.mutations import damaged_json
from tests.tokenizers import TRAINED
from ticore.cli.detect import _secret
from ticore.watermarking import WatermarkDetector

from .base import Parser

TEXT = "The quick brown fox jumps over the lazy dog, twice, and again the quick brown fox."
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "vllm": [{"algorithm": "gumbel", "key": 42, "context_width": 4}],
    "sglang": [{"key": "0123456789abcdef", "context_window": 4}],
    "synthid": [{"keys": [654, 400, 836, 123], "ngram_len": 5}],
    "transformers": [
        {"greenlist_ratio": 0.25, "bias": 2.0, "hashing_key": 15485863, "context_width": 1},
        {"seeding_scheme": "selfhash", "context_width": 4, "vocab_size": 700},
    ],
}


def written(settings: list[dict[str, Any]]) -> list[bytes]:
    return [json.dumps(each).encode() for each in settings]


def detect(scheme: str, content: bytes, path: Path) -> None:
    path.write_bytes(content)
    config: Mapping[str, Any] = _secret(scheme, None, path)["config"]
    found = WatermarkDetector(TRAINED["sp-bpe"](), scheme, config=config).detect(TEXT)
    assert 0 <= found.p_value <= 1, f"a p-value of {found.p_value}"


PARSERS = [
    Parser(scheme, partial(written, settings), damaged_json, partial(detect, scheme))
    for scheme, settings in SETTINGS.items()
]
