"""Random models of a few thousand parameters, written to directories as transformers does."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="torch or transformers is not installed")
pytest.importorskip("transformers", reason="torch or transformers is not installed")

import torch
import transformers
from transformers import PreTrainedConfig, PreTrainedModel

from tests.support.tokenizers import HUGGING_FACE, SENTENCEPIECE
from ticore.registry import load_tokenizer
from ticore_torch import BACKEND, TorchModel

transformers.utils.logging.disable_progress_bar()
# Workers are as many as cores already.
torch.set_num_threads(1)

CONTEXT = 40
# Above the number of ids that either tokenizer below has.
WIDTH = 704

COMMON = {
    "vocab_size": WIDTH,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": CONTEXT,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
CONFIGS: dict[str, PreTrainedConfig] = {
    "llama": transformers.LlamaConfig(**COMMON, tie_word_embeddings=True),
    "llama-untied": transformers.LlamaConfig(**COMMON | {"num_key_value_heads": 4}),
    "mistral-window": transformers.MistralConfig(**COMMON, sliding_window=6, head_dim=8),
    "mixtral": transformers.MixtralConfig(**COMMON, num_local_experts=4),
    "qwen2": transformers.Qwen2Config(**COMMON),
    "gpt2": transformers.GPT2Config(
        vocab_size=WIDTH,
        n_embd=32,
        n_layer=2,
        n_head=4,
        n_positions=CONTEXT,
        bos_token_id=1,
        eos_token_id=2,
    ),
    # Convolutions besides attention: their state cannot be cropped.
    "lfm2": transformers.Lfm2Config(**COMMON, layer_types=["conv", "full_attention"]),
}


def named(cache: object, module: Any) -> dict[str, object]:
    """A cache as a model's forward pass takes it: before transformers 5.24 by another name."""
    taken = signature(module.forward).parameters
    return {"cache" if "cache" in taken else "past_key_values": cache}


def network(config: PreTrainedConfig, seed: int = 0) -> PreTrainedModel:
    """Weights large enough that attention is far from uniform and every part matters."""
    torch.manual_seed(seed)
    module = transformers.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.3)
            elif "norm" in name or "ln" in name:
                parameter.normal_(1, 0.2)
            else:
                parameter.normal_(0, 0.2)
    return module


def write(folder: Path, config: PreTrainedConfig, *, pieces: bool = True, seed: int = 0) -> Path:
    """A model with its tokenizer: SentencePiece's `pieces`, or a tokenizer.json."""
    network(config, seed).save_pretrained(folder)
    if pieces:
        library = SENTENCEPIECE["sp-bpe"]()._library
        (folder / "tokenizer.model").write_bytes(library.serialized_model_proto())
    else:
        (folder / "tokenizer.json").write_text(HUGGING_FACE["hf-gpt2"]()._library.to_str())
    return folder


def load(folder: Path | str, **options: object) -> TorchModel:
    model = BACKEND.load(str(folder), load_tokenizer, {"device": "cpu", **options})
    assert isinstance(model, TorchModel)
    return model


def plain_pass(folder: Path, ids: list[int], dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Logits [n, width] after each of `ids`, as transformers computes them in one pass."""
    module = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    with torch.inference_mode():
        logits: torch.Tensor = module(torch.tensor([ids]), use_cache=False).logits[0]
    return logits
