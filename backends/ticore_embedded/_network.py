"""The forward pass of a decoder in NumPy. For Llamas, `training.network` is the same in PyTorch.

    cache = Cache(config, dtype)
    for states in network.read(ids, cache):      # a prompt, chunk by chunk
        ...
    network.read_each([token], [cache])          # then one token at a time

Both are one function. Its result for a position may differ in the last bits between the two
ways, because BLAS adds in another order for a matrix than for a vector; another build of BLAS or
another number of its threads may differ likewise. The same calls in the same order on the same
machine give the same bits, and so do calls before which other positions were read and cropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ticore.backend_kit.network_config import NetworkConfig

from ._attention import Attention
from ._cache import Cache, LayerCache
from ._layers import Array, FeedForward, GatedFeedForward, Linear, Norm
from ._rotations import Rotations, Turn

# A prompt is read in chunks, so that attention scores need chunk x context numbers per head and not
# context x context: 16 MB where reading 2048 positions at once would need 128 MB.
CHUNK = 256


@dataclass(frozen=True)
class Block:
    """One layer: attention, then feed-forward, each on normed rows and added to them.

    Attributes:
        attention_norm, forward_norm: applied to the rows before each part.
        after_attention, after_forward: applied to what each part gives, if any.
    """

    attention_norm: Norm
    attention: Attention
    forward_norm: Norm
    forward: GatedFeedForward | FeedForward
    after_attention: Norm | None = None
    after_forward: Norm | None = None

    def __call__(self, x: Array, turn: Turn | None, texts: Sequence[LayerCache]) -> None:
        """Add to the rows `x` float[n, width] what this layer computes; see `Attention`."""
        taken = self.attention(self.attention_norm(x), turn, texts)
        x += taken if self.after_attention is None else self.after_attention(taken)
        given = self.forward(self.forward_norm(x))
        x += given if self.after_forward is None else self.after_forward(given)


class Network:
    """A decoder ready to run. It holds weights and angles; reading a text changes only its Cache.

    Args:
        config: its sizes and variants.
        embedding: float[vocab, width].
        blocks: the layers.
        norm: applied after the last of them.
        head: from final states to logits.
        positions: float[context, width] where positions are learned, None where they are rotary.
        embedding_scale: multiplies what the embedding gives.

    Attributes:
        config, blocks, head: as given.
        dtype: of all arrays.
    """

    def __init__(
        self,
        config: NetworkConfig,
        *,
        embedding: Array,
        blocks: Sequence[Block],
        norm: Norm,
        head: Linear,
        positions: Array | None = None,
        embedding_scale: float = 1.0,
    ) -> None:
        self.config = config
        self.dtype = embedding.dtype
        self._embedding, self._positions, self._scale = embedding, positions, embedding_scale
        self.blocks, self._norm, self.head = tuple(blocks), norm, head

    def with_layers(self, blocks: Sequence[Block], head: Linear) -> Network:
        """A network with these layers, and all else of this one."""
        return Network(
            self.config,
            embedding=self._embedding,
            blocks=blocks,
            norm=self._norm,
            head=head,
            positions=self._positions,
            embedding_scale=self._scale,
        )

    def new_cache(self) -> Cache:
        """An empty cache."""
        return Cache(self.config, self.dtype)

    def read(self, ids: Sequence[int], cache: Cache) -> Iterator[Array]:
        """Read `ids` at the positions that follow those in `cache`, and add them to it.

        Only all of `ids` together can be rewound afterwards.

        Args:
            ids: each below the vocabulary size; the context has room for all of them.

        Yields:
            float[n, width], the final states of the next n positions; `logits` reads them.
        """
        for at in range(0, len(ids), CHUNK):
            if at:
                cache.settle()
            chunk = ids[at : at + CHUNK]
            positions = slice(cache.length, cache.length + len(chunk))
            yield self._read(chunk, positions, [cache])

    def read_each(self, tokens: Sequence[int], caches: Sequence[Cache]) -> Array:
        """Read one id in each of several texts, and add it to the text's cache.

        Returns:
            float[len(tokens), width], the final state of each.
        """
        return self._read(tokens, [cache.length for cache in caches], caches)

    def read_known(self, tokens: Sequence[int], cache: Cache) -> Array:
        """Read ids of one text, each of which sees the text up to itself; see `_row_by_row`.

        Returns:
            float[len(tokens), width], the final state of each.
        """
        positions = slice(cache.length, cache.length + len(tokens))
        return self._read(tokens, positions, [cache] * len(tokens))

    def logits(self, states: Array) -> Array:
        """Logits float[n, vocab] after each of the final states float[n, width]."""
        return self.head(states)

    def _read(
        self, ids: Sequence[int], positions: Sequence[int] | slice, caches: Sequence[Cache]
    ) -> Array:
        x = self._embedding[np.asarray(ids)]
        if self._scale != 1:
            x *= self._scale
        if self._positions is not None:
            x += self._positions[positions]
        turns = self._turns(positions)
        for depth, block in enumerate(self.blocks):
            turn = turns.get(block.attention.rotations)
            block(x, turn, [cache.layers[depth] for cache in caches])
        return self._norm(x)

    def _turns(self, positions: Sequence[int] | slice) -> Mapping[Rotations | None, Turn]:
        """How the layers turn heads at `positions`."""
        used = {block.attention.rotations for block in self.blocks}
        return {each: each.at(positions) for each in used if each is not None}
