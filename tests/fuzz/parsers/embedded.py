"""The files of a model, read by the embedded backend."""

from __future__ import annotations

from functools import partial

from tests.fuzz.mutations import damaged_json
from ticore_embedded import BACKEND

from .base import Parser
from .models import (
    CONFIG,
    GENERATION,
    INDEX,
    TOKENIZER_CONFIG,
    TOKENIZER_START,
    WEIGHTS,
    damaged_weights,
    open_model,
    written,
)

open_embedded = partial(open_model, BACKEND)

PARSERS = [
    Parser("config.json", written(CONFIG), damaged_json, partial(open_embedded, "config.json")),
    Parser(
        "model.safetensors",
        lambda: [WEIGHTS],
        damaged_weights,
        partial(open_embedded, "model.safetensors"),
    ),
    Parser(
        "model.safetensors.index.json",
        written(INDEX),
        damaged_json,
        partial(open_embedded, "model.safetensors.index.json"),
    ),
    Parser(
        "generation_config.json",
        written(GENERATION),
        damaged_json,
        partial(open_embedded, "generation_config.json"),
    ),
    Parser(
        "tokenizer_config.json",
        written(TOKENIZER_CONFIG),
        damaged_json,
        partial(open_embedded, "tokenizer_config.json"),
    ),
    Parser(
        "start of a tokenizer.json",
        written(TOKENIZER_START),
        damaged_json,
        partial(open_embedded, "tokenizer.json"),
    ),
]
