"""From the tensors of a checkpoint to the network: names and layouts of each architecture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy.typing as npt

from ticore.backend_kit.checkpoint import Tensors
from ticore.backend_kit.network_config import NetworkConfig, Rope, gpt2_root, is_spare_tensor

from ._attention import Attention
from ._layers import (
    Array,
    FeedForward,
    GatedFeedForward,
    LayerNorm,
    Linear,
    RMSNorm,
    gelu,
    silu,
)
from ._network import Block, Network
from ._rotations import Rotations
from ._weights import Arrays


def build(config: NetworkConfig, tensors: Tensors, dtype: npt.DTypeLike, *, dots: bool) -> Network:
    """The network of `config`.

    Args:
        config: says which tensors there must be, and their shapes.
        tensors: as they are stored.
        dtype: float32 or float64, to which everything is converted.
        dots: see `Linear`.

    Raises:
        ModelFilesError: the tensors are not those that `config` calls for.
    """
    arrays = Arrays(tensors, dtype)
    network = _FAMILIES[config.architecture](_Parts(config, arrays, dots))
    tensors.refuse_rest(is_spare_tensor)
    arrays.fill()
    return network


@dataclass
class _Parts:
    """Makes what several architectures are made of.

    Attributes:
        config, arrays, dots: see `build`.
        gain: added to the weights of norms.
    """

    config: NetworkConfig
    arrays: Arrays
    dots: bool
    gain: float = 0.0
    _rotations: dict[Rope, Rotations] = field(default_factory=dict)

    def linear(self, outputs: dict[str, int], inputs: int, bias: bool) -> Linear:
        """Products of the same inputs, each with as many `outputs`."""
        weights = {f"{name}.weight": (count, inputs) for name, count in outputs.items()}
        biases = {f"{name}.bias": (count,) for name, count in outputs.items()}
        stacked = self.arrays.stacked
        return Linear(stacked(weights), stacked(biases) if bias else None, self.dots)

    def transposed(self, name: str, inputs: int, outputs: int) -> Linear:
        """A product as GPT-2 stores it, with one row per input."""
        weight = self.arrays.stacked({f"{name}.weight": (inputs, outputs)}, transposed=True)
        return Linear(weight, self.vector(f"{name}.bias", outputs), self.dots)

    def rms_norm(self, name: str, width: int) -> RMSNorm:
        weight = self.arrays.stacked({f"{name}.weight": (width,)}, plus=self.gain)
        return RMSNorm(weight, self.config.norm_eps)

    def vector(self, name: str, width: int) -> Array:
        return self.arrays.stacked({name: (width,)})

    def vocabulary(self, name: str) -> Array:
        """An embedding, or a head."""
        return self.arrays.stacked({name: (self.config.vocab_size, self.config.width)})

    def head(self, embedding: Array) -> Linear:
        weight = embedding if self.config.tied else self.vocabulary("lm_head.weight")
        return Linear(weight, None, self.dots)

    def rotations(self, window: int | None) -> Rotations | None:
        """The angles of a layer of this window; layers of the same angles share them."""
        rope = self.config.rope_of(window)
        if rope is None:
            return None
        if rope not in self._rotations:
            self._rotations[rope] = Rotations(rope, self.config.head_dim, self.arrays.dtype)
        return self._rotations[rope]

    def attention(self, at: str, window: int | None, *, norms: bool = False) -> Attention:
        """The attention of Llama and its descendants; `norms` says whether heads are normed."""
        config = self.config
        queries, pairs = config.heads * config.head_dim, config.kv_heads * config.head_dim
        outputs = {f"{at}.q_proj": queries, f"{at}.k_proj": pairs, f"{at}.v_proj": pairs}
        return Attention(
            self.linear(outputs, config.width, config.qkv_bias),
            self.linear({f"{at}.o_proj": config.width}, queries, config.output_bias),
            config.heads,
            config.kv_heads,
            config.head_dim,
            config.attention_scale,
            rotations=self.rotations(window),
            query_norm=self.rms_norm(f"{at}.q_norm", config.head_dim) if norms else None,
            key_norm=self.rms_norm(f"{at}.k_norm", config.head_dim) if norms else None,
        )

    def gated(self, at: str, activation: Callable[[Array], Array]) -> GatedFeedForward:
        """The feed-forward part of Llama and its descendants."""
        width, inner, bias = self.config.width, self.config.inner, self.config.mlp_bias
        return GatedFeedForward(
            self.linear({f"{at}.gate_proj": inner, f"{at}.up_proj": inner}, width, bias),
            self.linear({f"{at}.down_proj": width}, inner, bias),
            activation,
        )


def _llama(parts: _Parts) -> Network:
    config = parts.config

    def block(at: str, window: int | None) -> Block:
        return Block(
            parts.rms_norm(f"{at}.input_layernorm", config.width),
            parts.attention(f"{at}.self_attn", window),
            parts.rms_norm(f"{at}.post_attention_layernorm", config.width),
            parts.gated(f"{at}.mlp", silu),
        )

    return _with_rms_norms(parts, block)


def _with_rms_norms(
    parts: _Parts, block: Callable[[str, int | None], Block], embedding_scale: float = 1.0
) -> Network:
    """A network whose tensors are named as Llama's are.

    Args:
        parts: makes the parts from the tensors.
        block: a layer, from its name and its window.
        embedding_scale: see `Network`.
    """
    config, embedding = parts.config, parts.vocabulary("model.embed_tokens.weight")
    return Network(
        config,
        embedding=embedding,
        blocks=[block(f"model.layers.{i}", w) for i, w in enumerate(config.windows)],
        norm=parts.rms_norm("model.norm", config.width),
        head=parts.head(embedding),
        embedding_scale=embedding_scale,
    )


def _gemma3(parts: _Parts) -> Network:
    """Norms multiply by 1 + w, and stand before and after each part of a layer."""
    config = parts.config
    parts.gain = 1.0

    def block(at: str, window: int | None) -> Block:
        return Block(
            parts.rms_norm(f"{at}.input_layernorm", config.width),
            parts.attention(f"{at}.self_attn", window, norms=True),
            parts.rms_norm(f"{at}.pre_feedforward_layernorm", config.width),
            parts.gated(f"{at}.mlp", gelu),
            after_attention=parts.rms_norm(f"{at}.post_attention_layernorm", config.width),
            after_forward=parts.rms_norm(f"{at}.post_feedforward_layernorm", config.width),
        )

    return _with_rms_norms(parts, block, embedding_scale=config.width**0.5)


def _gpt2(parts: _Parts) -> Network:
    config, root = parts.config, gpt2_root(parts.arrays.tensors)
    width, inner = config.width, config.inner

    def norm(name: str) -> LayerNorm:
        weight, bias = (parts.vector(f"{name}.{x}", width) for x in ("weight", "bias"))
        return LayerNorm(weight, bias, config.norm_eps)

    def block(at: str) -> Block:
        attention = Attention(
            parts.transposed(f"{at}.attn.c_attn", width, 3 * width),
            parts.transposed(f"{at}.attn.c_proj", width, width),
            config.heads,
            config.kv_heads,
            config.head_dim,
            config.attention_scale,
        )
        forward = FeedForward(
            parts.transposed(f"{at}.mlp.c_fc", width, inner),
            parts.transposed(f"{at}.mlp.c_proj", inner, width),
        )
        return Block(norm(f"{at}.ln_1"), attention, norm(f"{at}.ln_2"), forward)

    embedding = parts.vocabulary(f"{root}wte.weight")
    return Network(
        config,
        embedding=embedding,
        blocks=[block(f"{root}h.{i}") for i in range(config.layers)],
        norm=norm(f"{root}ln_f"),
        head=parts.head(embedding),
        positions=parts.arrays.stacked({f"{root}wpe.weight": (config.context, width)}),
    )


_FAMILIES: dict[str, Callable[[_Parts], Network]] = {
    "llama": _llama,
    "mistral": _llama,
    "qwen2": _llama,
    "gemma3_text": _gemma3,
    "gpt2": _gpt2,
}
ARCHITECTURES = tuple(_FAMILIES)
"""The architectures that this backend computes."""
