"""From the metadata and tensors of a GGUF file to those of a Hugging Face checkpoint.

One function for each family of networks, named as in `general.architecture`. The settings are
those of a config.json. Keys that may say something else about the network are refused: a network
that is almost the right one would answer with numbers that are almost right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....errors import ModelFilesError
from .._config_fields import Fields
from .._safetensors_files import StoredTensor
from .angles import rope_scaling
from .container import Container
from .source import Source
from .unpacking import LESS_ONE, TRANSPOSED, halves_of_heads

_SIZES = ("context_length", "embedding_length", "block_count", "feed_forward_length")
# Keys of the families that turn queries and keys by angles.
_ROTARY = (
    *_SIZES,
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.layer_norm_rms_epsilon",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scaling.type",
    "rope.scaling.factor",
    "rope.scaling.original_context_length",
    "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
)
# Which layers of Gemma 3 see everything, and the angles of the others; llama.cpp has them in code.
_GEMMA_3_PATTERN, _GEMMA_3_LOCAL_THETA = 6, 10_000.0
_GEMMA_3_27B_LAYERS = 62


@dataclass(frozen=True)
class Network:
    """A network in the terms of a Hugging Face checkpoint.

    Attributes:
        settings: as in config.json, but for special tokens.
        tensors: by the names of the checkpoint.
    """

    settings: Mapping[str, object]
    tensors: Mapping[str, StoredTensor]


def read_network(path: Path, container: Container) -> Network:
    """The network in a GGUF file.

    Raises:
        ModelFilesError: its family is not supported, or metadata are missing, invalid or unknown.
    """
    family = container.metadata.get("general.architecture")
    if not isinstance(family, str) or family not in _FAMILIES:
        raise ModelFilesError(
            f"{path}: expected general.architecture to be one of {', '.join(_FAMILIES)}, "
            f"found {family!r}; use another model"
        )
    if container.metadata.get("split.count", 1) not in (0, 1):
        raise ModelFilesError(
            f"{path}: expected a whole model, found one part of several; join them with "
            f"llama.cpp's llama-gguf-split --merge"
        )
    return _FAMILIES[family](Source(path, container, family))


def _llama(source: Source) -> Network:
    settings = _rotary(source, "llama")
    settings |= {
        "hidden_act": "silu",
        "attention_bias": source.has("blk.0.attn_q.bias"),
        "mlp_bias": source.has("blk.0.ffn_up.bias"),
    }
    layouts = {
        "blk.attn_q": halves_of_heads(settings["num_attention_heads"]),
        "blk.attn_k": halves_of_heads(settings["num_key_value_heads"]),
    }
    return Network(settings, source.renamed(_LLAMA_NAMES, layouts))


def _qwen2(source: Source) -> Network:
    settings = _rotary(source, "qwen2")
    settings |= {"hidden_act": "silu", "use_sliding_window": False}
    return Network(settings, source.renamed(_LLAMA_NAMES, {}))


def _gemma3(source: Source) -> Network:
    fields = source.fields
    own = ("attention.sliding_window", "attention.sliding_window_pattern", "rope.freq_base_swa")
    settings = _rotary(source, "gemma3_text", *own, "final_logit_softcapping")
    layers, head_dim = fields.layers("block_count"), settings["head_dim"]
    if layers == _GEMMA_3_27B_LAYERS:
        head_dim = settings["hidden_size"] // settings["num_attention_heads"]
    cap = "final_logit_softcapping"
    settings |= {
        "hidden_activation": "gelu_pytorch_tanh",
        "attention_bias": False,
        "query_pre_attn_scalar": head_dim,
        "attn_logit_softcapping": None,
        cap: fields.positive(cap) if cap in fields.settings else None,
        "sliding_window": fields.size("attention.sliding_window"),
        "layer_types": _gemma3_layers(fields, layers),
        "rope_local_base_freq": fields.positive("rope.freq_base_swa", _GEMMA_3_LOCAL_THETA),
    }
    norms = {name: LESS_ONE for name in _GEMMA_3_NAMES if name.endswith("norm")}
    return Network(settings, source.renamed(_GEMMA_3_NAMES, norms))


def _gemma3_layers(fields: Fields, layers: int) -> list[str]:
    """The kind of each layer. A pattern is a number, or says of each layer whether it is local."""
    pattern = fields.get("attention.sliding_window_pattern", _GEMMA_3_PATTERN)
    if isinstance(pattern, list) and len(pattern) == layers and {*map(type, pattern)} == {bool}:
        local = pattern
    else:
        every = fields.size("attention.sliding_window_pattern", _GEMMA_3_PATTERN)
        local = [bool((layer + 1) % every) for layer in range(layers)]
    return ["sliding_attention" if each else "full_attention" for each in local]


def _gpt2(source: Source) -> Network:
    fields = source.fields
    epsilon = "attention.layer_norm_epsilon"
    source.require_known(*_SIZES, "attention.head_count", epsilon)
    settings = {
        "model_type": "gpt2",
        "vocab_size": source.vocabulary_size(),
        "n_positions": fields.size("context_length"),
        "n_embd": fields.size("embedding_length"),
        "n_layer": fields.layers("block_count"),
        "n_head": fields.size("attention.head_count"),
        "n_inner": fields.size("feed_forward_length"),
        "layer_norm_epsilon": fields.positive(epsilon),
        "activation_function": "gelu_new",
        "tie_word_embeddings": not source.has("output.weight"),
    }
    return Network(
        settings, source.renamed(_GPT_2_NAMES, dict.fromkeys(_GPT_2_MATRICES, TRANSPOSED))
    )


def _rotary(source: Source, model_type: str, *own: str) -> dict[str, Any]:
    """The settings that Llama and its descendants share; `own` are further keys of the family."""
    fields = source.fields
    source.require_known(*_ROTARY, *own)
    hidden, heads = fields.size("embedding_length"), fields.size("attention.head_count")
    head_dim = fields.size("attention.key_length", max(1, hidden // heads))
    for name in ("attention.value_length", "rope.dimension_count"):
        fields.one_of(name, head_dim, (head_dim,))
    theta = fields.positive("rope.freq_base", 10_000.0)
    return {
        "model_type": model_type,
        "vocab_size": source.vocabulary_size(),
        "hidden_size": hidden,
        "intermediate_size": fields.size("feed_forward_length"),
        "num_hidden_layers": fields.layers("block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": fields.size("attention.head_count_kv", heads),
        "head_dim": head_dim,
        "max_position_embeddings": fields.size("context_length"),
        "rms_norm_eps": fields.positive("attention.layer_norm_rms_epsilon"),
        "rope_theta": theta,
        "rope_scaling": rope_scaling(source, theta, head_dim),
        "tie_word_embeddings": not source.has("output.weight"),
    }


_LLAMA_NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "blk.attn_norm": "model.layers.{}.input_layernorm",
    "blk.attn_q": "model.layers.{}.self_attn.q_proj",
    "blk.attn_k": "model.layers.{}.self_attn.k_proj",
    "blk.attn_v": "model.layers.{}.self_attn.v_proj",
    "blk.attn_output": "model.layers.{}.self_attn.o_proj",
    "blk.ffn_norm": "model.layers.{}.post_attention_layernorm",
    "blk.ffn_gate": "model.layers.{}.mlp.gate_proj",
    "blk.ffn_up": "model.layers.{}.mlp.up_proj",
    "blk.ffn_down": "model.layers.{}.mlp.down_proj",
}
_GEMMA_3_NAMES = {
    **_LLAMA_NAMES,
    "blk.attn_q_norm": "model.layers.{}.self_attn.q_norm",
    "blk.attn_k_norm": "model.layers.{}.self_attn.k_norm",
    "blk.post_attention_norm": "model.layers.{}.post_attention_layernorm",
    "blk.ffn_norm": "model.layers.{}.pre_feedforward_layernorm",
    "blk.post_ffw_norm": "model.layers.{}.post_feedforward_layernorm",
}
_GPT_2_NAMES = {
    "token_embd": "transformer.wte",
    "position_embd": "transformer.wpe",
    "output_norm": "transformer.ln_f",
    "output": "lm_head",
    "blk.attn_norm": "transformer.h.{}.ln_1",
    "blk.attn_qkv": "transformer.h.{}.attn.c_attn",
    "blk.attn_output": "transformer.h.{}.attn.c_proj",
    "blk.ffn_norm": "transformer.h.{}.ln_2",
    "blk.ffn_up": "transformer.h.{}.mlp.c_fc",
    "blk.ffn_down": "transformer.h.{}.mlp.c_proj",
}
_GPT_2_MATRICES = tuple(
    f"blk.{part}.weight" for part in ("attn_qkv", "attn_output", "ffn_up", "ffn_down")
)
_FAMILIES: dict[str, Callable[[Source], Network]] = {
    "llama": _llama,
    "qwen2": _qwen2,
    "gemma3": _gemma3,
    "gpt2": _gpt2,
}
