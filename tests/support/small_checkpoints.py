"""Settings and random tensors of small networks, by what llama.cpp calls their families.

They need no framework, and have the names of Hugging Face checkpoints.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

_ROTARY: dict[str, Any] = {
    "vocab_size": 20,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 40,
    "rms_norm_eps": 1e-5,
    "rope_theta": 1e6,
    "rope_scaling": None,
    "tie_word_embeddings": True,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "llama": _ROTARY
    | {"model_type": "llama", "hidden_act": "silu", "attention_bias": False, "mlp_bias": False},
    "qwen2": _ROTARY
    | {
        "model_type": "qwen2",
        "hidden_act": "silu",
        "use_sliding_window": False,
        "tie_word_embeddings": False,
    },
    "gemma3": _ROTARY
    | {
        "model_type": "gemma3_text",
        "hidden_activation": "gelu_pytorch_tanh",
        "num_hidden_layers": 7,
        "sliding_window": 8,
        "layer_types": [*["sliding_attention"] * 5, "full_attention", "sliding_attention"],
        "query_pre_attn_scalar": 16,
        "rope_local_base_freq": 10000.0,
        "attention_bias": False,
        "attn_logit_softcapping": None,
        "final_logit_softcapping": None,
    },
    "gpt2": {
        "model_type": "gpt2",
        "vocab_size": 20,
        "n_embd": 32,
        "n_inner": 64,
        "n_layer": 2,
        "n_head": 4,
        "n_positions": 40,
        "layer_norm_epsilon": 1e-5,
        "activation_function": "gelu_new",
        "tie_word_embeddings": True,
    },
}


def tensors_of(family: str, settings: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Weights large enough that every part of the network matters."""
    rng = np.random.default_rng(0)
    return {
        name: rng.standard_normal(shape, np.float32)
        if len(shape) > 1
        else 1 + np.float32(0.2) * rng.standard_normal(shape, np.float32)
        for name, shape in shapes_of(family, settings).items()
    }


def shapes_of(family: str, settings: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the tensors of a checkpoint."""
    return _gpt2(settings) if family == "gpt2" else _rotary(family, settings)


def _gpt2(settings: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    width, inner = settings["n_embd"], settings["n_inner"]
    root: dict[str, tuple[int, ...]] = {
        "wte": (settings["vocab_size"], width),
        "wpe": (settings["n_positions"], width),
        "ln_f": (width,),
    }
    layer = {
        "ln_1": (width,),
        "ln_2": (width,),
        "attn.c_attn": (width, 3 * width),
        "attn.c_proj": (width, width),
        "mlp.c_fc": (width, inner),
        "mlp.c_proj": (inner, width),
    }
    layers = range(settings["n_layer"])
    root |= {f"h.{i}.{name}": shape for i in layers for name, shape in layer.items()}
    weights = {f"transformer.{name}.weight": shape for name, shape in root.items()}
    biased = [name for name in weights if "wte" not in name and "wpe" not in name]
    return weights | {name.replace(".weight", ".bias"): weights[name][-1:] for name in biased}


def _rotary(family: str, settings: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    width, inner, head = (settings[x] for x in ("hidden_size", "intermediate_size", "head_dim"))
    queries = head * settings["num_attention_heads"]
    pairs = head * settings["num_key_value_heads"]
    layer: dict[str, tuple[int, ...]] = {
        "input_layernorm": (width,),
        "post_attention_layernorm": (width,),
        "self_attn.q_proj": (queries, width),
        "self_attn.k_proj": (pairs, width),
        "self_attn.v_proj": (pairs, width),
        "self_attn.o_proj": (width, queries),
        "mlp.gate_proj": (inner, width),
        "mlp.up_proj": (inner, width),
        "mlp.down_proj": (width, inner),
    }
    if family == "gemma3":
        layer |= {"self_attn.q_norm": (head,), "self_attn.k_norm": (head,)}
        layer |= {"pre_feedforward_layernorm": (width,), "post_feedforward_layernorm": (width,)}
    vocabulary = settings["vocab_size"], width
    shapes: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": vocabulary,
        "model.norm.weight": (width,),
    }
    if not settings["tie_word_embeddings"]:
        shapes["lm_head.weight"] = vocabulary
    for i in range(settings["num_hidden_layers"]):
        at = f"model.layers.{i}"
        shapes |= {f"{at}.{name}.weight": shape for name, shape in layer.items()}
        if family == "qwen2":
            rows = {"q": queries, "k": pairs, "v": pairs}
            shapes |= {f"{at}.self_attn.{x}_proj.bias": (n,) for x, n in rows.items()}
    return shapes
