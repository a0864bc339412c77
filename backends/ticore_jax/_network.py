"""The forward pass of a decoder, as Flax NNX modules that are built from their weights.

Matrices keep one row per output, as checkpoints of Llama store them. What multiplies large arrays
runs in the type of the weights; norms, rotations, softmax and logits in at least float32.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
from flax import nnx
from jax import lax

# Before they are placed on devices, weights are views of files.
Array = jax.Array | npt.NDArray[np.floating]
# The keys and values of a layer, float[kv heads, capacity, head_dim] each.
Layer = tuple[jax.Array, jax.Array]


class Weight(nnx.Param[Any]):
    """A trained array. Its metadata `split` names the dimension that devices may share out."""


@dataclasses.dataclass(frozen=True)
class Span:
    """Where the rows being read lie in the text, and where those that they may see.

    Attributes:
        start: position of the first row.
        rows: int32[n], position of each row.
        columns: int32[capacity], position of each entry of the cache.
    """

    start: jax.Array
    rows: jax.Array
    columns: jax.Array

    def visible(self, window: int | None) -> jax.Array:
        """bool[n, capacity]: a row sees itself and what came before, at most `window` in all."""
        distance = self.rows[:, None] - self.columns
        seen = distance >= 0
        return seen if window is None else seen & (distance < window)


class Linear(nnx.Module):
    """x W^T + b for rows x, with W float[outputs, inputs]."""

    def __init__(self, weight: Array, bias: Array | None, split: int) -> None:
        self.weight = Weight(weight, split=split)
        self.bias = None if bias is None else Weight(bias, split=0 if split == 0 else None)

    def __call__(self, x: jax.Array) -> jax.Array:
        product = jnp.einsum("ni,oi->no", x, self.weight[...])
        return product if self.bias is None else product + self.bias[...]


class RMSNorm(nnx.Module):
    """Rows scaled to a root mean square of 1, then by a weight."""

    def __init__(self, weight: Array, eps: float) -> None:
        self.weight = Weight(weight, split=None)
        self.eps = eps

    def __call__(self, x: jax.Array) -> jax.Array:
        x, dtype = widened(x), x.dtype
        x /= jnp.sqrt(jnp.mean(x * x, axis=-1, keepdims=True) + self.eps)
        return (x * self.weight[...]).astype(dtype)


class LayerNorm(nnx.Module):
    """Rows shifted to a mean of 0 and scaled to a variance of 1, then by a weight and a bias."""

    def __init__(self, weight: Array, bias: Array, eps: float) -> None:
        self.weight = Weight(weight, split=None)
        self.bias = Weight(bias, split=None)
        self.eps = eps

    def __call__(self, x: jax.Array) -> jax.Array:
        x, dtype = widened(x), x.dtype
        x -= jnp.mean(x, axis=-1, keepdims=True)
        x /= jnp.sqrt(jnp.mean(x * x, axis=-1, keepdims=True) + self.eps)
        return (x * self.weight[...] + self.bias[...]).astype(dtype)


class Rotation(NamedTuple):
    """Turns each head by the angles of its position.

    Hugging Face's layout: number i of the first half and number i of the second are one pair.

    Attributes:
        cos, sin: of the angles of each position, float[positions, head_dim / 2].
    """

    cos: jax.Array
    sin: jax.Array

    def turned(self, heads: jax.Array, span: Span) -> jax.Array:
        """`heads` float[n, heads, head_dim], row i at position `span.rows[i]`."""
        # Rows of padding may lie beyond the table; what they give is never looked at.
        cos, sin = (table.at[span.rows, None].get(mode="clip") for table in self)
        left, right = jnp.split(widened(heads), 2, axis=-1)
        turned = jnp.concatenate((left * cos - right * sin, right * cos + left * sin), axis=-1)
        return turned.astype(heads.dtype)


class Attention(nnx.Module):
    """What each position takes from itself and those before it.

    Several query heads may share one head of keys and values; there are `kv_heads` such groups.
    """

    def __init__(
        self,
        query: Linear,
        key: Linear,
        value: Linear,
        output: Linear,
        kv_heads: int,
        head_dim: int,
        window: int | None,
    ) -> None:
        self.query, self.key, self.value, self.output = query, key, value, output
        self.kv_heads, self.head_dim, self.window = kv_heads, head_dim, window

    def __call__(
        self, x: jax.Array, turn: Rotation | None, span: Span, layer: Layer
    ) -> tuple[jax.Array, Layer]:
        query, key, value = (
            part(x).reshape(len(x), -1, self.head_dim)
            for part in (self.query, self.key, self.value)
        )
        if turn is not None:
            query, key = turn.turned(query, span), turn.turned(key, span)
        keys, values = (
            lax.dynamic_update_slice_in_dim(old, new.swapaxes(0, 1), span.start, axis=1)
            for old, new in zip(layer, (key, value), strict=True)
        )
        groups = query.reshape(len(x), self.kv_heads, -1, self.head_dim)
        scores = jnp.einsum("ngsd,gcd->gsnc", groups, keys, preferred_element_type=wide(x.dtype))
        scores = jnp.where(span.visible(self.window), scores * self.head_dim**-0.5, -jnp.inf)
        shares = jax.nn.softmax(scores, axis=-1).astype(x.dtype)
        mixed = jnp.einsum("gsnc,gcd->ngsd", shares, values)
        return self.output(mixed.reshape(len(x), -1)), (keys, values)


class GatedFeedForward(nnx.Module):
    """down(silu(gate(x)) * up(x))."""

    def __init__(self, gate: Linear, up: Linear, down: Linear) -> None:
        self.gate, self.up, self.down = gate, up, down

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.down(jax.nn.silu(self.gate(x)) * self.up(x))


class FeedForward(nnx.Module):
    """down(gelu(up(x))), with the approximation by tanh that GPT-2 was trained with."""

    def __init__(self, up: Linear, down: Linear) -> None:
        self.up, self.down = up, down

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.down(jax.nn.gelu(self.up(x), approximate=True))


class TransformerBlock(nnx.Module):
    """One layer: attention, then feed-forward, each on normed rows and added to them."""

    def __init__(
        self,
        attention_norm: RMSNorm | LayerNorm,
        attention: Attention,
        forward_norm: RMSNorm | LayerNorm,
        forward: GatedFeedForward | FeedForward,
    ) -> None:
        self.attention_norm, self.attention = attention_norm, attention
        self.forward_norm, self.forward = forward_norm, forward

    def __call__(
        self, x: jax.Array, turn: Rotation | None, span: Span, layer: Layer
    ) -> tuple[jax.Array, Layer]:
        taken, layer = self.attention(self.attention_norm(x), turn, span, layer)
        x += taken
        return x + self.forward(self.forward_norm(x)), layer


class Network(nnx.Module):
    """A decoder. What a text changes is in the layers' keys and values, which calls take and give.

    Args:
        embedding: float[vocab, width].
        positions: float[context, width] where positions are learned, None where they are rotary.
        blocks: the layers.
        norm: applied after the last of them.
        head: float[vocab, width], or None where the embedding serves.
    """

    def __init__(
        self,
        embedding: Array,
        positions: Array | None,
        blocks: Sequence[TransformerBlock],
        norm: RMSNorm | LayerNorm,
        head: Array | None,
    ) -> None:
        self.embedding = Weight(embedding, split=0)
        self.positions = None if positions is None else Weight(positions, split=None)
        self.blocks = nnx.List(blocks)
        self.norm = norm
        self.head = None if head is None else Weight(head, split=0)

    def __call__(
        self,
        ids: jax.Array,
        start: jax.Array,
        layers: Sequence[Layer],
        turn: Rotation | None,
    ) -> tuple[jax.Array, list[Layer]]:
        """Read `ids` from position `start` on.

        Args:
            ids: int32[n]; padding at the end leaves garbage in the cache, after everything that
                the true rows see, and is overwritten before any row sees it.
            layers: keys and values up to `start`, of a capacity of at least `start` + n.
            turn: the rotation for as many positions, or for the context; None where positions are
                learned.

        Returns:
            The final states float[n, width], and the layers with these rows added.
        """
        rows = start + jnp.arange(len(ids), dtype=jnp.int32)
        span = Span(start, rows, jnp.arange(layers[0][0].shape[1], dtype=jnp.int32))
        x = self.embedding[...][ids]
        if self.positions is not None:
            x += self.positions[...].at[rows].get(mode="clip")
        grown = []
        for block, layer in zip(self.blocks, layers, strict=True):
            x, added = block(x, turn, span, layer)
            grown.append(added)
        return self.norm(x), grown

    def logits(self, states: jax.Array) -> jax.Array:
        """Logits float[n, vocab] after each of the final states float[n, width]."""
        head = self.embedding if self.head is None else self.head
        out = wide(states.dtype)
        return jnp.einsum("ni,oi->no", states, head[...], preferred_element_type=out)


def wide(dtype: npt.DTypeLike) -> np.dtype[np.floating]:
    """The type that sums of numbers of `dtype` are kept in: float32, or float64 for itself."""
    return jnp.promote_types(dtype, jnp.float32)


def widened(x: jax.Array) -> jax.Array:
    """`x` in the type `wide` of its own."""
    return x.astype(wide(x.dtype))
