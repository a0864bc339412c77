"""Random models for the embedded runner, a few thousand numbers each, written to directories."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import safetensors.numpy

from ticore.backend_kit.checkpoint import StoredTensor
from ticore.backend_kit.network_config import parse_config
from ticore.interfaces import LanguageModel
from ticore_embedded import BACKEND
from ticore_embedded._families import build

# More positions than one chunk and than two doublings of the cache.
CONTEXT = 300
Settings = dict[str, object]
GROUPED: Settings = {
    "vocab_size": 50,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
LLAMAS: dict[str, Settings] = {
    "grouped": GROUPED,
    "one-to-one": GROUPED | {"num_key_value_heads": 4, "rope_theta": 500.0},
    "one-for-all": GROUPED | {"num_key_value_heads": 1, "rms_norm_eps": 1e-3},
    "untied": GROUPED | {"tie_word_embeddings": False, "num_hidden_layers": 1},
}
# All that tells it from a Llama: heads of their own width, two kinds of layers, norms of heads.
GEMMA3: Settings = GROUPED | {
    "model_type": "gemma3_text",
    "head_dim": 12,
    "num_key_value_heads": 1,
    "query_pre_attn_scalar": 9,
    "sliding_window": 7,
    "sliding_window_pattern": 3,
}
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}

Tensors = dict[str, np.ndarray]


@dataclasses.dataclass
class NumberTokenizer:
    """As much of a tokenizer as loading a model asks for."""

    vocab_size: int = 50
    name: str = "numbers"

    def digest(self) -> str:
        return self.name


class RandomTensors:
    """Stands for the tensors of a directory: makes up each that is asked for.

    Weights are so large that attention is far from uniform and every part matters.
    """

    def __init__(self, seed: int) -> None:
        self.made: Tensors = {}
        self._rng = np.random.default_rng(seed)

    def __contains__(self, name: str) -> bool:
        return False

    def take(self, name: str, shape: tuple[int, ...], codes: Collection[str]) -> StoredTensor:
        numbers = self._rng.standard_normal(shape, np.float32)
        if len(shape) == 1:
            numbers = 1 + np.float32(0.2) * numbers
        elif name != "lm_head.weight":
            numbers *= np.float32(0.3)
        self.made[name] = numbers
        return StoredTensor("F32", shape, numbers.reshape(-1).view(np.uint8))

    def refuse_rest(self, harmless: Callable[[str], bool]) -> None:
        pass


def random_tensors(settings: Settings) -> Tensors:
    """All tensors that a network of these settings consists of."""
    tensors = RandomTensors(0)
    build(parse_config({"model_type": "llama"} | settings), tensors, "float32", dots=True)
    return tensors.made


def write_model(folder: Path, settings: Settings, tensors: Tensors) -> Path:
    return write_files(folder, settings, safetensors.numpy.save(tensors))


def write_files(folder: Path, settings: Settings, weights: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama"} | settings))
    (folder / "model.safetensors").write_bytes(weights)
    (folder / "tokenizer.model").touch()
    return folder


def load(folder: Path, **options: object) -> LanguageModel:
    """The model in float64, unless `options` say otherwise."""
    options = {"dtype": "float64", **options}
    return BACKEND.load(str(folder), lambda place: NumberTokenizer(), options)


def some_ids(count: int, seed: int = 7) -> list[int]:
    return np.random.default_rng(seed).integers(0, 50, count).tolist()
