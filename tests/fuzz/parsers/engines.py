"""Agreements about watermarks, and the watermark settings of inference engines such as vLLM."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.fuzz.mutations import damaged_json
from tests.support.tokenizers import TRAINED
from ticore._cli.watermark_options import WatermarkOptions
from ticore.watermarking import WatermarkAgreement, WatermarkDetector

from .base import Parser

TEXT = "The quick brown fox jumps over the lazy dog, twice, and again the quick brown fox."
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "vllm": [{"algorithm": "gumbel", "key": 42, "context_width": 4}],
    "sglang": [{"key": "0123456789abcdef", "context_window": 4}],
    "textseal": [{"secret_key": 42, "watermark_type": "textseal", "ngram": 2}],
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
    config: Mapping[str, Any] = WatermarkOptions(scheme=scheme, config=path).read_secret()["config"]
    make = getattr(WatermarkDetector, f"for_{scheme}")
    found = make(TRAINED["sp-bpe"](), config).detect(TEXT)
    assert 0 <= found.p_value <= 1, f"a p-value of {found.p_value}"


def agreements() -> list[bytes]:
    """One for each kind of scheme, whose tokenizer is `sp-bpe`."""
    digest = TRAINED["sp-bpe"]().digest()
    kinds: dict[str, dict[str, Any]] = {"gumbel": {}, "left_hash": {"gamma": 0.25, "delta": 4.0}}
    return [
        WatermarkAgreement(
            scheme=scheme,
            version=2,
            settings=settings,
            tokenizer="sp-bpe",
            tokenizer_digest=digest,
            key=bytes(range(32)),
        )
        .dumps()
        .encode()
        for scheme, settings in kinds.items()
    ]


def open_agreement(content: bytes, _: Path) -> None:
    agreement = WatermarkAgreement.loads(content, "mark.json")
    tokenizer = TRAINED["sp-bpe"]()
    found = WatermarkDetector.from_agreement(agreement, tokenizer=tokenizer).detect(TEXT)
    assert 0 <= found.p_value <= 1, f"a p-value of {found.p_value}"


PARSERS = [
    Parser("watermark-agreement", agreements, damaged_json, open_agreement),
    *(
        Parser(scheme, partial(written, settings), damaged_json, partial(detect, scheme))
        for scheme, settings in SETTINGS.items()
    ),
]
