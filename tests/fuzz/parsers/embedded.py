"""The files of a model, read by the embedded backend."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from tests.fuzz.mutations import damaged_json
from ticore.backend_kit.checkpoint import read_config
from ticore.backend_kit.network_config import angle_tables, parse_config
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

# Settings of networks that have other fields than a Llama's.
_WINDOWS = {"full_attention": {"rope_type": "linear", "factor": 8.0}}
_OTHERS = (
    CONFIG | {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "beta_fast": 32, "mscale": 1.0}},
    CONFIG | {"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 1},
    CONFIG | {"model_type": "gemma3_text", "rope_parameters": _WINDOWS, "sliding_window": 9},
    {"model_type": "gpt2", "vocab_size": 60000, "n_embd": 8, "n_layer": 2, "n_head": 2}
    | {"n_positions": 64, "tie_word_embeddings": True},
)


def parse_network_config(content: bytes, path: Path) -> None:
    """Parse settings, and compute angles of a head of ordinary width."""
    path.with_name("config.json").write_bytes(content)
    config = parse_config(read_config(path.parent))
    for window in set(config.windows):
        if (rope := config.rope_of(window)) is not None:
            angle_tables(rope, 8, 4)


PARSERS = [
    Parser("config.json", written(CONFIG), damaged_json, partial(open_embedded, "config.json")),
    Parser(
        "settings of a network",
        lambda: [json.dumps(settings).encode() for settings in _OTHERS],
        damaged_json,
        parse_network_config,
    ),
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
