"""Attention: what each position of a text takes from itself and those before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ._cache import LayerCache
from ._layers import Array, Linear, RMSNorm
from ._rotations import Rotations, Turn

# Bytes of scores that are computed at once. More rows than these hold are read in portions, so that
# memory is bounded for any context: at 32,768 positions, 256 rows of 14 heads would take 470 MB.
MOST_SCORES = 64 << 20


@dataclass(frozen=True)
class Attention:
    """Attention of one layer.

    Several query heads share one head of keys and values. The queries of such a group are the rows
    of one matrix, so there is one product per group instead of one per head.

    Attributes:
        qkv: to queries, then keys, then values.
        output: from all heads to the width.
        heads, kv_heads, head_dim: heads of queries, of keys and values, and the width of each.
        scale: products of queries and keys are multiplied by it.
        rotations: turn queries and keys; None where positions are learned.
        query_norm, key_norm: norms of each head before it is turned, if any.
    """

    qkv: Linear
    output: Linear
    heads: int
    kv_heads: int
    head_dim: int
    scale: float
    rotations: Rotations | None = None
    query_norm: RMSNorm | None = None
    key_norm: RMSNorm | None = None

    def __call__(self, x: Array, turn: Turn | None, texts: Sequence[LayerCache]) -> Array:
        """What rows float[n, width] take, float[n, width].

        Args:
            x: the next rows of each text, as many of one as of another.
            turn: of the rows' positions; None where positions are learned.
            texts: what this layer keeps of each text; the rows are added.
        """
        qkv, each = self._project(x, turn), len(x) // len(texts)
        parts = (qkv[at : at + each] for at in range(0, len(x), each))
        return self.output(
            _joined([self._attend(part, text) for part, text in zip(parts, texts, strict=True)])
        )

    def _project(self, x: Array, turn: Turn | None) -> Array:
        """Queries, keys and values float[n, heads + 2 * kv heads, head_dim] of rows."""
        queries, turned = self.heads, self.heads + self.kv_heads
        qkv = self.qkv(x).reshape(len(x), turned + self.kv_heads, self.head_dim)
        if self.query_norm is not None:
            qkv[:, :queries] = self.query_norm(qkv[:, :queries])
        if self.key_norm is not None:
            qkv[:, queries:turned] = self.key_norm(qkv[:, queries:turned])
        if turn is not None:
            qkv[:, :turned] = turn(qkv[:, :turned])
        return qkv

    def _attend(self, qkv: Array, text: LayerCache) -> Array:
        """What the next rows of one text take, float[n, heads * head_dim]."""
        start, pairs = text.length, qkv[:, self.heads :].swapaxes(0, 1)
        text.add(pairs[: self.kv_heads], pairs[self.kv_heads :])
        seen = text.length if text.window is None else min(text.length, text.window + len(qkv))
        portion = max(1, MOST_SCORES // (self.heads * seen * qkv.itemsize))
        taken = []
        for at in range(0, len(qkv), portion):
            queries = qkv[at : at + portion, : self.heads]
            rows = range(start + at, start + at + len(queries))
            taken.append(self._mixed(queries, *text.seen_by(rows), text.window))
        return _joined(taken)

    def _mixed(self, queries: Array, keys: Array, values: Array, window: int | None) -> Array:
        """Values in the shares that softmax gives them, float[n, heads * head_dim].

        Args:
            queries: float[n, heads, head_dim].
            keys, values: float[kv heads, seen, head_dim]; the rows of `queries` are the last n.
            window: see `LayerCache`.
        """
        n, seen = len(queries), keys.shape[1]
        share = self.heads // self.kv_heads
        grouped = queries.reshape(n, self.kv_heads, share, self.head_dim).transpose(1, 2, 0, 3)
        rows = grouped.reshape(self.kv_heads, share * n, self.head_dim)
        # For one row, products of a matrix and few vectors take less than half of the time.
        one_row = n == 1 and self.qkv.dots
        if one_row:
            scores = np.ascontiguousarray((keys @ rows.swapaxes(1, 2)).swapaxes(1, 2))
        else:
            scores = rows @ keys.swapaxes(1, 2)
        scores *= self.scale
        if n > 1:
            hide(scores.reshape(self.kv_heads, share, n, seen), window)
        softmax_in_place(scores)
        mixed = scores[:, :, None] @ values[:, None] if one_row else scores @ values
        by_row = mixed.reshape(self.kv_heads, share, n, self.head_dim).transpose(2, 0, 1, 3)
        return by_row.reshape(n, self.heads * self.head_dim)


def hide(scores: Array, window: int | None) -> None:
    """Set float[..., n, seen] to minus infinity where row i, one of the last, does not see j."""
    n, seen = scores.shape[-2:]
    # Without a window, only the rows' own positions can be hidden.
    first = seen - n if window is None else 0
    distance = np.arange(seen - n, seen)[:, None] - np.arange(first, seen)
    hidden = distance < 0
    if window is not None:
        hidden |= distance >= window
    np.copyto(scores[..., first:], -np.inf, where=hidden)


def softmax_in_place(scores: Array) -> None:
    """Turn the last axis into probabilities; minus infinity becomes 0."""
    scores -= np.maximum.reduce(scores, axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= np.add.reduce(scores, axis=-1, keepdims=True)


def _joined(parts: list[Array]) -> Array:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
