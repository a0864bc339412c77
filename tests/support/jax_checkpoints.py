"""Small random models of every architecture, made and saved by transformers."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax", reason="jax or flax is not installed")
pytest.importorskip("flax", reason="jax or flax is not installed")
# They make the models that the JAX backend is compared with.
pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch
import transformers

from ticore.interfaces import LanguageModel
from ticore_jax import BACKEND

VOCAB, START = 50, 1
# Less than the 64 rows that a long text is padded to, so that padding goes beyond the last one.
CONTEXT = 40

_ROTARY = {
    "vocab_size": VOCAB,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
    "bos_token_id": START,
    "eos_token_id": 2,
}
_GPT2 = {
    "vocab_size": VOCAB,
    "n_positions": CONTEXT,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "bos_token_id": START,
    "eos_token_id": START,
}
_LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 100.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 30,
}
# What transformers calls the configuration, and the settings in which each case differs.
CASES = {
    "llama": ("LlamaConfig", _ROTARY),
    "llama, one head for all": ("LlamaConfig", _ROTARY | {"num_key_value_heads": 1}),
    "llama, biases and wide heads": (
        "LlamaConfig",
        _ROTARY | {"attention_bias": True, "mlp_bias": True, "head_dim": 12},
    ),
    "llama, linear": (
        "LlamaConfig",
        _ROTARY
        | {"rope_parameters": {"rope_type": "linear", "factor": 3.0, "rope_theta": 10000.0}},
    ),
    "llama, dynamic": (
        "LlamaConfig",
        _ROTARY | {"rope_parameters": {"rope_type": "dynamic", "factor": 3.0, "rope_theta": 500.0}},
    ),
    "llama, llama3": ("LlamaConfig", _ROTARY | {"rope_parameters": _LLAMA3}),
    "llama, yarn": (
        "LlamaConfig",
        _ROTARY | {"rope_parameters": {"rope_type": "yarn", "factor": 4.0, "rope_theta": 100.0}},
    ),
    "mistral": ("MistralConfig", _ROTARY | {"sliding_window": None}),
    "mistral, window": ("MistralConfig", _ROTARY | {"sliding_window": 7}),
    "qwen2": ("Qwen2Config", _ROTARY | {"tie_word_embeddings": True}),
    "qwen2, window": (
        "Qwen2Config",
        _ROTARY | {"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1},
    ),
    "gpt2": ("GPT2Config", _GPT2),
    "gpt2, untied": ("GPT2Config", _GPT2 | {"tie_word_embeddings": False, "n_inner": 24}),
}


@dataclasses.dataclass
class NumberTokenizer:
    """As much of a tokenizer as loading a model asks for."""

    vocab_size: int = VOCAB
    name: str = "numbers"

    def digest(self) -> str:
        return self.name


@functools.cache
def reference(case: str):
    """The model of transformers, its weights so large that every part matters."""
    kind, settings = CASES[case]
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(
        getattr(transformers, kind)(**settings), attn_implementation="eager"
    ).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_gain = parameter.ndim == 1 and not name.endswith("bias")
            parameter.normal_(1.0 if is_gain else 0.0, 0.3)
    return model


def expected_logits(model, ids: list[int]) -> np.ndarray:
    """Logits float[len(ids), vocab] of transformers, before each of `ids`.

    The saved tokenizer puts nothing before a text: only the first row follows the start token.
    """
    with torch.inference_mode():
        first, rest = (model(torch.tensor([read])).logits[0] for read in ([START], ids[:-1]))
        return torch.cat([first, rest]).numpy()


def save(folder: Path, case: str = "llama", **options: object) -> Path:
    """The model of `case` as transformers saves it, with a tokenizer that none reads."""
    reference(case).save_pretrained(folder, **options)
    (folder / "tokenizer.json").write_text("{}")
    return folder


def load(folder: Path, **options: object) -> LanguageModel:
    return BACKEND.load(str(folder), lambda place: NumberTokenizer(), options)


def some_ids(count: int, seed: int = 7) -> list[int]:
    return np.random.default_rng(seed).integers(0, VOCAB, count).tolist()
