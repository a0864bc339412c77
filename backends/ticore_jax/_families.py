"""From the tensors of a checkpoint to the network: names and layouts of each architecture.

Nothing is copied or read here: the network is made of views, and `placement` moves them. What is
missing, superfluous or of another shape is found before the first number is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ml_dtypes
import numpy as np
import numpy.typing as npt

from ticore.backend_kit.checkpoint import Tensors
from ticore.backend_kit.network_config import NetworkConfig, gpt2_root, is_spare_tensor

from ._network import (
    Attention,
    FeedForward,
    GatedFeedForward,
    LayerNorm,
    Linear,
    Network,
    RMSNorm,
    TransformerBlock,
)

_TYPES: dict[str, npt.DTypeLike] = {"BF16": ml_dtypes.bfloat16, "F16": "<f2", "F32": "<f4"}
# The dimension of a matrix that devices share: its outputs, or its inputs where those are shared
# already, so that a layer's second product needs nothing but one sum over devices.
OUTPUTS, INPUTS = 0, 1


def build(config: NetworkConfig, tensors: Tensors) -> Network:
    """The network of `config`, its arrays views of `tensors`.

    Raises:
        ModelFilesError: the tensors are not those that `config` calls for.
    """
    network = _FAMILIES[config.architecture](config, tensors)
    tensors.refuse_rest(is_spare_tensor)
    return network


def _llama(config: NetworkConfig, tensors: Tensors) -> Network:
    take = partial(_array, tensors)
    width, inner = config.width, config.inner
    queries, pairs = config.heads * config.head_dim, config.kv_heads * config.head_dim

    def linear(name: str, outputs: int, inputs: int, bias: bool, split: int) -> Linear:
        return Linear(
            take(f"{name}.weight", (outputs, inputs)),
            take(f"{name}.bias", (outputs,)) if bias else None,
            split,
        )

    def norm(name: str) -> RMSNorm:
        return RMSNorm(take(f"{name}.weight", (width,)), config.norm_eps)

    def block(at: str, window: int | None) -> TransformerBlock:
        attention = Attention(
            linear(f"{at}.self_attn.q_proj", queries, width, config.qkv_bias, OUTPUTS),
            linear(f"{at}.self_attn.k_proj", pairs, width, config.qkv_bias, OUTPUTS),
            linear(f"{at}.self_attn.v_proj", pairs, width, config.qkv_bias, OUTPUTS),
            linear(f"{at}.self_attn.o_proj", width, queries, config.output_bias, INPUTS),
            config.kv_heads,
            config.head_dim,
            window,
        )
        forward = GatedFeedForward(
            linear(f"{at}.mlp.gate_proj", inner, width, config.mlp_bias, OUTPUTS),
            linear(f"{at}.mlp.up_proj", inner, width, config.mlp_bias, OUTPUTS),
            linear(f"{at}.mlp.down_proj", width, inner, config.mlp_bias, INPUTS),
        )
        return TransformerBlock(
            norm(f"{at}.input_layernorm"),
            attention,
            norm(f"{at}.post_attention_layernorm"),
            forward,
        )

    vocabulary = config.vocab_size, width
    return Network(
        embedding=take("model.embed_tokens.weight", vocabulary),
        positions=None,
        blocks=[block(f"model.layers.{i}", w) for i, w in enumerate(config.windows)],
        norm=norm("model.norm"),
        head=None if config.tied else take("lm_head.weight", vocabulary),
    )


def _gpt2(config: NetworkConfig, tensors: Tensors) -> Network:
    take = partial(_array, tensors)
    width, inner = config.width, config.inner
    root = gpt2_root(tensors)

    def linears(name: str, inputs: int, outputs: int, split: int, parts: int = 1) -> list[Linear]:
        """GPT-2 stores one row per input, and queries, keys and values side by side."""
        weight = take(f"{name}.weight", (inputs, parts * outputs)).T
        bias = take(f"{name}.bias", (parts * outputs,))
        both = zip(np.split(weight, parts), np.split(bias, parts), strict=True)
        return [Linear(w, b, split) for w, b in both]

    def norm(name: str) -> LayerNorm:
        weight, bias = (take(f"{name}.{x}", (width,)) for x in ("weight", "bias"))
        return LayerNorm(weight, bias, config.norm_eps)

    def block(at: str) -> TransformerBlock:
        query, key, value = linears(f"{at}.attn.c_attn", width, width, OUTPUTS, parts=3)
        (output,) = linears(f"{at}.attn.c_proj", width, width, INPUTS)
        (up,) = linears(f"{at}.mlp.c_fc", width, inner, OUTPUTS)
        (down,) = linears(f"{at}.mlp.c_proj", inner, width, INPUTS)
        return TransformerBlock(
            norm(f"{at}.ln_1"),
            Attention(query, key, value, output, config.kv_heads, config.head_dim, None),
            norm(f"{at}.ln_2"),
            FeedForward(up, down),
        )

    vocabulary = config.vocab_size, width
    return Network(
        embedding=take(f"{root}wte.weight", vocabulary),
        positions=take(f"{root}wpe.weight", (config.context, width)),
        blocks=[block(f"{root}h.{i}") for i in range(config.layers)],
        norm=norm(f"{root}ln_f"),
        head=None if config.tied else take("lm_head.weight", vocabulary),
    )


def _array(tensors: Tensors, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.floating]:
    """The tensor `name` in the type it is stored in, a read-only view of its file."""
    stored = tensors.take(name, shape, _TYPES)
    return stored.data.view(_TYPES[stored.code]).reshape(shape)


_FAMILIES: dict[str, Callable[[NetworkConfig, Tensors], Network]] = {
    "llama": _llama,
    "mistral": _llama,
    "qwen2": _llama,
    "gpt2": _gpt2,
}
ARCHITECTURES = tuple(_FAMILIES)
"""The architectures that this backend computes."""
