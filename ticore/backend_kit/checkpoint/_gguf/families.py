"""From the metadata and tensors of a GGUF file to those of a Hugging Face checkpoint.

One function for each family of networks, named as in `general.architecture`. The settings are
those of a config.json. Keys that may say something else about the network are refused: a network
that is almost the right one would answer with numbers that are almost right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ....errors import ModelFilesError
from .._config_fields import Fields
from .._safetensors_files import StoredTensor
from .container import Container
from .unpacking import Layout, head_halves, less_one, stored_tensor, transposed, unpacked

_ADVICE = "use a file that llama.cpp's convert_hf_to_gguf.py wrote"
_OTHERWISE = "use the model's Hugging Face files instead"
# Keys of every family that say nothing about the network, or nothing that its tensors do not say.
_IDLE = ("vocab_size", "tensor_data_layout", "rope.scaling.finetuned")
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
# A tensor that is a setting: by how much each angle of Llama 3.1 and its descendants is reduced.
_ANGLES = "rope_freqs.weight"
_LLAMA_3_LOW, _LLAMA_3_HIGH, _LLAMA_3_CONTEXT = 1.0, 4.0, 8192
# Which layers of Gemma 3 see everything, and the angles of the others; llama.cpp has them in code.
_GEMMA_3_PATTERN, _GEMMA_3_LOCAL_THETA = 6, 10_000.0
_GEMMA_3_27B_LAYERS = 62

_NAME = re.compile(
    r"(?:(?P<blk>blk)\.(?P<block>0|[1-9]\d{0,5})\.)?(?P<part>[a-z_]+)\.(weight|bias)"
)


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
    return _FAMILIES[family](_Source(path, container, family))


@dataclass(frozen=True)
class _Source:
    """Typed access to one file."""

    path: Path
    container: Container
    family: str
    fields: Fields = field(init=False)

    def __post_init__(self) -> None:
        prefix = f"{self.family}."
        own = {
            name.removeprefix(prefix): value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in self.container.metadata.items()
            if name.startswith(prefix)
        }
        object.__setattr__(self, "fields", Fields(own, f"{self.path}: {self.family}", _ADVICE))

    def require_known(self, *names: str) -> None:
        """Refuse keys of the family that are not among `names`."""
        for name in sorted(self.fields.settings.keys() - {*names, *_IDLE}):
            raise ModelFilesError(
                f"{self.path}: expected only settings of {self.family} that are known here, found "
                f"{self.family + '.' + name!r}; {_OTHERWISE}"
            )

    def has(self, name: str) -> bool:
        return name in self.container.tensors

    def vocabulary_size(self) -> int:
        """How many rows the embedding has."""
        embedding = self.container.tensors.get("token_embd.weight")
        if embedding is None or len(embedding.shape) != 2:
            raise ModelFilesError(
                f"{self.path}: expected a matrix token_embd.weight, found none; use another file"
            )
        return embedding.shape[0]

    def renamed(
        self, names: Mapping[str, str], layouts: Mapping[str, Layout]
    ) -> dict[str, StoredTensor]:
        """All tensors by their names in the checkpoint.

        Args:
            names: by what a name is without its number and its end: `blk.attn_q` for
                `blk.0.attn_q.weight`. A `{}` stands for the number.
            layouts: by the same, or with the end where only one of weight and bias is meant.
        """
        found: dict[str, StoredTensor] = {}
        for name, packed in self.container.tensors.items():
            if name == _ANGLES:
                continue
            match = _NAME.fullmatch(name)
            part = "" if match is None else f"{match['blk'] or ''}.{match['part']}".strip(".")
            if match is None or part not in names:
                raise ModelFilesError(
                    f"{self.path}: expected only tensors of {self.family} that are known here, "
                    f"found {name!r}; {_OTHERWISE}"
                )
            kind = match[4]
            layout = layouts.get(part, layouts.get(f"{part}.{kind}"))
            own = f"{names[part].format(match['block'])}.{kind}"
            found[own] = stored_tensor(f"{self.path}: {name}", packed, layout)
        return found


def _llama(source: _Source) -> Network:
    settings = _rotary(source, "llama")
    heads = {
        "blk.attn_q": source.fields.size("attention.head_count"),
        "blk.attn_k": settings["num_key_value_heads"],
    }
    for name, packed in source.container.tensors.items():
        for part, count in heads.items():
            if f".{part[4:]}." in name and packed.shape[0] % (2 * count):
                raise ModelFilesError(
                    f"{source.path}: expected {name!r} to have rows for {count} heads of even width, "
                    f"found {packed.shape[0]}; {_ADVICE}"
                )
    settings |= {
        "hidden_act": "silu",
        "attention_bias": source.has("blk.0.attn_q.bias"),
        "mlp_bias": source.has("blk.0.ffn_up.bias"),
    }
    layouts = {part: partial(head_halves, count) for part, count in heads.items()}
    return Network(settings, source.renamed(_LLAMA_NAMES, layouts))


def _qwen2(source: _Source) -> Network:
    settings = _rotary(source, "qwen2")
    settings |= {"hidden_act": "silu", "use_sliding_window": False}
    return Network(settings, source.renamed(_LLAMA_NAMES, {}))


def _gemma3(source: _Source) -> Network:
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
    norms = {name: less_one for name in _GEMMA_3_NAMES if name.endswith("norm")}
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


def _gpt2(source: _Source) -> Network:
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
        settings, source.renamed(_GPT_2_NAMES, dict.fromkeys(_GPT_2_MATRICES, transposed))
    )


def _rotary(source: _Source, model_type: str, *own: str) -> dict[str, Any]:
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
        "rope_scaling": _rope_scaling(source, theta, head_dim),
        "tie_word_embeddings": not source.has("output.weight"),
    }


def _rope_scaling(source: _Source, theta: float, head_dim: int) -> dict[str, object] | None:
    fields = source.fields
    kind = fields.one_of("rope.scaling.type", "linear", ("none", "linear", "yarn"))
    scaled = "rope.scaling.factor" in fields.settings
    if source.has(_ANGLES):
        if scaled:
            raise fields.error("rope.scaling.factor", f"absent beside {_ANGLES}", kind)
        return _llama3_scaling(source, theta, head_dim)
    if not scaled and kind != "yarn":
        return None
    fields.one_of("rope.scaling.type", "linear", ("linear", "yarn"))
    scaling = {"rope_type": kind, "factor": fields.positive("rope.scaling.factor")}
    if kind == "yarn":
        context = fields.size("context_length")
        original = fields.size("rope.scaling.original_context_length", context)
        scaling["original_max_position_embeddings"] = original
        for name in ("beta_fast", "beta_slow"):
            if (key := f"rope.scaling.yarn_{name}") in fields.settings:
                scaling[name] = fields.positive(key)
    return scaling


def _llama3_scaling(source: _Source, theta: float, head_dim: int) -> dict[str, object]:
    """The settings from which llama.cpp has computed `rope_freqs.weight`.

    All models of the family share three of the four. The fourth is the largest divisor.
    """
    packed = source.container.tensors[_ANGLES]
    if packed.kind.name == "F32" and packed.shape == (head_dim // 2,):
        found = unpacked(packed).astype(np.float64)
        factor, context = float(found.max()), _LLAMA_3_CONTEXT
        waves = 2 * np.pi * theta ** (np.arange(0, head_dim, 2) / head_dim)
        share = (context / waves - _LLAMA_3_LOW) / (_LLAMA_3_HIGH - _LLAMA_3_LOW)
        with np.errstate(all="ignore"):
            expected = 1 / (np.clip(1 - share, 0, 1) / factor + np.clip(share, 0, 1))
        if np.isfinite(found).all() and np.allclose(found, expected, rtol=1e-5):
            return {
                "rope_type": "llama3",
                "factor": factor,
                "low_freq_factor": _LLAMA_3_LOW,
                "high_freq_factor": _LLAMA_3_HIGH,
                "original_max_position_embeddings": context,
            }
    raise ModelFilesError(
        f"{source.path}: expected {_ANGLES} to be as in Llama 3.1, found something else; "
        f"{_OTHERWISE}"
    )


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
_FAMILIES: dict[str, Callable[[_Source], Network]] = {
    "llama": _llama,
    "qwen2": _qwen2,
    "gemma3": _gemma3,
    "gpt2": _gpt2,
}
