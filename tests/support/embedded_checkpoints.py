"""Random models for the embedded runner, a few thousand numbers each, written to directories."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import safetensors.numpy

from ticore.interfaces import LanguageModel
from ticore_embedded import BACKEND
from ticore_embedded._config import LlamaConfig
from ticore_embedded._weights import expected_shapes

# More positions than one chunk and than two doublings of the cache.
CONTEXT = 300
GROUPED = LlamaConfig(
    vocab_size=50,
    hidden_size=32,
    intermediate_size=48,
    num_hidden_layers=3,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=CONTEXT,
    rms_norm_eps=1e-5,
    rope_theta=10000.0,
    tie_word_embeddings=True,
    bos_token_id=1,
    eos_token_id=2,
)
CONFIGS = {
    "grouped": GROUPED,
    "one-to-one": dataclasses.replace(GROUPED, num_key_value_heads=4, rope_theta=500.0),
    "one-for-all": dataclasses.replace(GROUPED, num_key_value_heads=1, rms_norm_eps=1e-3),
    "untied": dataclasses.replace(GROUPED, tie_word_embeddings=False, num_hidden_layers=1),
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


def random_tensors(config: LlamaConfig, seed: int = 0) -> Tensors:
    """Weights large enough that attention is far from uniform and every part matters."""
    rng = np.random.default_rng(seed)
    tensors: Tensors = {}
    for name, shape in expected_shapes(config):
        numbers = rng.standard_normal(shape, np.float32)
        if len(shape) == 1:
            numbers = 1 + np.float32(0.2) * numbers
        elif name != "lm_head.weight":
            numbers *= np.float32(0.3)
        tensors[name] = numbers
    return tensors


def write_model(folder: Path, config: LlamaConfig, tensors: Tensors) -> Path:
    return write_files(folder, config, safetensors.numpy.save(tensors))


def write_files(folder: Path, config: LlamaConfig, weights: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    settings = dataclasses.asdict(config) | {"model_type": "llama"}
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "model.safetensors").write_bytes(weights)
    (folder / "tokenizer.model").touch()
    return folder


def load(folder: Path, **options: object) -> LanguageModel:
    """The model in float64, unless `options` say otherwise."""
    options = {"dtype": "float64", **options}
    return BACKEND.load(str(folder), lambda place: NumberTokenizer(), options)


def some_ids(count: int, seed: int = 7) -> list[int]:
    return np.random.default_rng(seed).integers(0, 50, count).tolist()
