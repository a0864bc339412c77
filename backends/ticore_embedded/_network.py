"""The forward pass of a Llama in NumPy; `training.network` is the same in PyTorch.

    cache = Cache(config, dtype)
    network.read(ids, cache)        # a prompt: final states of all its positions
    network.read([token], cache)    # then one token at a time

One function serves both. Its result for a position may differ in the last bits between the two
ways, because BLAS adds in another order for a matrix than for a vector; another build of BLAS or
another number of its threads may differ likewise. The same calls in the same order on the same
machine give the same bits, and so do calls before which other positions were read and cropped.

Everything stays in the dtype of the weights: a Python number adapts to the array it meets, while
a float64 scalar of NumPy's own would turn float32 arrays into float64 ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ._config import LlamaConfig
from ._rotation import Rotations
from ._weights import Array, Layer, Weights

# A prompt is read in chunks, so that attention scores need chunk x context numbers per head and not
# context x context: 16 MB where reading 2048 positions at once would need 128 MB.
CHUNK = 256
# Positions that a new cache has room for; it doubles whenever it is full.
FIRST_CAPACITY = 64


class Cache:
    """Keys and values of the positions read so far, with room to grow.

    Attributes:
        length: number of positions read; lowering it forgets the last ones.
        keys, values: float[layers, kv heads, capacity, head_dim], valid up to `length`.
    """

    def __init__(self, config: LlamaConfig, dtype: npt.DTypeLike) -> None:
        self._limit = config.max_position_embeddings
        room = min(FIRST_CAPACITY, self._limit)
        shape = config.num_hidden_layers, config.num_key_value_heads, room, config.head_dim
        self.length = 0
        self.keys: Array = np.empty(shape, dtype)
        self.values: Array = np.empty(shape, dtype)

    def reserve(self, length: int) -> None:
        """Make room for `length` positions, at most the context.

        What is multiplied is a slice up to `length`, whose rows have the same layout at any
        capacity: growth changes no result.
        """
        capacity = self.keys.shape[2]
        if length > capacity:
            capacity = min(max(length, 2 * capacity), self._limit)
            self.keys = _grown(self.keys, capacity)
            self.values = _grown(self.values, capacity)


class Network:
    """A Llama ready to run. It holds weights and angles; reading a text changes only its Cache."""

    def __init__(self, config: LlamaConfig, weights: Weights) -> None:
        self.config = config
        self.weights = weights
        self.dtype = weights.embedding.dtype
        self._rotations = Rotations(config, self.dtype)

    def read(self, ids: Sequence[int], cache: Cache) -> Array:
        """Read `ids` at the positions that follow those in `cache`, and add them to it.

        Args:
            ids: each below the vocabulary size; the context has room for all of them.

        Returns:
            float[len(ids), hidden], the final state of each position; `logits` reads it.
        """
        chunks = [ids[at : at + CHUNK] for at in range(0, len(ids), CHUNK)]
        if len(chunks) == 1:
            return self._read_chunk(chunks[0], cache)
        none = np.empty((0, self.config.hidden_size), self.dtype)
        return np.concatenate([none, *(self._read_chunk(chunk, cache) for chunk in chunks)])

    def logits(self, states: Array) -> Array:
        """Logits float[n, vocab] after each of the final states float[n, hidden]."""
        return states @ self.weights.head.T

    def project(self, x: Array, layer: Layer, cos: Array, sin: Array) -> Array:
        """Queries, keys and values of the rows x float[n, hidden].

        Args:
            layer: the one that reads the rows.
            cos, sin: float[n, 1, head_dim / 2], the rotations of the rows' positions.

        Returns:
            float[n, heads + 2 * kv heads, head_dim]; queries and keys are rotated.
        """
        heads, groups = self.config.num_attention_heads, self.config.num_key_value_heads
        qkv = (x @ layer.qkv.T).reshape(len(x), heads + 2 * groups, self.config.head_dim)
        qkv[:, : heads + groups] = rotate(qkv[:, : heads + groups], cos, sin)
        return qkv

    def attend(self, qkv: Array, keys: Array, values: Array, start: int) -> Array:
        """What each position of a text takes from itself and those before it.

        Several query heads share one head of keys and values. The queries of such a group are the
        rows of one matrix, so there is one product per group instead of one per head.

        Args:
            qkv: of n positions from `start` on, as `project` gives them.
            keys, values: float[kv heads, capacity, head_dim] of the text in this layer, valid up
                to `start`; those of `qkv` are added.

        Returns:
            float[n, heads * head_dim].
        """
        heads, groups = self.config.num_attention_heads, self.config.num_key_value_heads
        n, share, size, end = len(qkv), heads // groups, self.config.head_dim, start + len(qkv)
        keys[:, start:end] = qkv[:, heads : heads + groups].swapaxes(0, 1)
        values[:, start:end] = qkv[:, heads + groups :].swapaxes(0, 1)

        queries = qkv[:, :heads].reshape(n, groups, share, size).transpose(1, 2, 0, 3)
        scores = queries.reshape(groups, share * n, size) @ keys[:, :end].swapaxes(1, 2)
        scores *= size**-0.5
        if n > 1:
            future = np.triu(np.full((n, n), -np.inf, self.dtype), 1)
            scores.reshape(groups, share, n, end)[..., start:] += future
        softmax_in_place(scores)
        mixed = (scores @ values[:, :end]).reshape(groups, share, n, size)
        return mixed.transpose(2, 0, 1, 3).reshape(n, heads * size)

    def rotations(self, positions: Sequence[int] | slice) -> tuple[Array, Array]:
        """Cosines and sines of `positions`, float[n, 1, head_dim / 2] each."""
        return self._rotations.at(positions)

    def _read_chunk(self, ids: Sequence[int], cache: Cache) -> Array:
        eps = self.config.rms_norm_eps
        start, end = cache.length, cache.length + len(ids)
        cache.reserve(end)
        cos, sin = self.rotations(slice(start, end))
        x = self.weights.embedding[np.asarray(ids)]
        for layer, keys, values in zip(self.weights.layers, cache.keys, cache.values, strict=True):
            qkv = self.project(rms_norm(x, layer.attention_norm, eps), layer, cos, sin)
            x += self.attend(qkv, keys, values, start) @ layer.output.T
            x += feed_forward(rms_norm(x, layer.ffn_norm, eps), layer)
        cache.length = end
        return rms_norm(x, self.weights.norm, eps)


def rms_norm(x: Array, weight: Array, eps: float) -> Array:
    """Rows of float[n, width] scaled to a root mean square of 1, then by `weight` float[width]."""
    mean_square = np.vecdot(x, x)[:, None] / x.shape[1]
    normed: Array = x / np.sqrt(mean_square + eps) * weight
    return normed


def feed_forward(x: Array, layer: Layer) -> Array:
    """SwiGLU: down(silu(gate(x)) * up(x)) for rows float[n, hidden]."""
    both = x @ layer.gate_up.T
    inner = both.shape[1] // 2
    gate, up = both[:, :inner], both[:, inner:]
    with np.errstate(over="ignore"):  # exp overflows to inf, and gate / inf is the right limit, 0
        silu = gate / (1 + np.exp(-gate))
    down: Array = (silu * up) @ layer.down.T
    return down


def rotate(x: Array, cos: Array, sin: Array) -> Array:
    """Turn each head of float[n, heads, head_dim] by its position's angles float[n, 1, half].

    Hugging Face's layout: number i of the first half and number i of the second are one pair.
    """
    half = x.shape[-1] // 2
    left, right = x[..., :half], x[..., half:]
    return np.concatenate((left * cos - right * sin, right * cos + left * sin), axis=-1)


def softmax_in_place(scores: Array) -> None:
    """Turn the last axis into probabilities; minus infinity becomes 0."""
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)


def _grown(rows: Array, capacity: int) -> Array:
    layers, groups, length, size = rows.shape
    grown: Array = np.empty((layers, groups, capacity, size), rows.dtype)
    grown[:, :, :length] = rows
    return grown
