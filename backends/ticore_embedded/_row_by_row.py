"""Many tokens of a known text in one pass, with the bits that each has when it is read alone.

A reader of a message needs the writer's logits to the last bit, and the writer read token by token.
Reading a token takes as long as it takes to load the weights. Here a matrix is loaded once for many
rows, and each number is computed as it is for one row: as a dot product, or in networks of the
first version in a product with this row. Attention goes row after row as well.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np

from ._layers import Array, FeedForward, GatedFeedForward, Linear
from ._network import Block, Network

ROWS = 16
"""Tokens of a pass. More hardly save time: the products take most of it."""
_TRIED = 8  # tokens, read in each of the two ways

# Not an attribute of the network, which would be copied with it and be wrong on another machine.
_KNOWN: MutableMapping[Network, Network | None] = WeakKeyDictionary()


@dataclass(frozen=True)
class RowByRow(Linear):
    """The same, in which any number of rows are multiplied as one row is."""

    def product(self, x: Array) -> Array:
        if not self.dots:
            return np.concatenate([row @ self.weight.T for row in x[:, None]])
        # In C order: a dot product of numbers that lie apart may add in another order.
        return np.ascontiguousarray(np.vecdot(self.weight[:, None], x).T)


def row_by_row(network: Network) -> Network | None:
    """The same network, whose rows have the bits that they have alone.

    Returns:
        None if a text that is read both ways has other bits on this machine.
    """
    if network not in _KNOWN:
        # Another thread may do the same, with the same result.
        found = _made_of(network)
        _KNOWN[network] = found if _are_alike(network, found) else None
    return _KNOWN[network]


def _made_of(network: Network) -> Network:
    return network.with_layers([_block(block) for block in network.blocks], _linear(network.head))


def _block(block: Block) -> Block:
    attention = block.attention
    by_rows = replace(attention, qkv=_linear(attention.qkv), output=_linear(attention.output))
    return replace(block, attention=by_rows, forward=_forward(block.forward))


def _forward(forward: GatedFeedForward | FeedForward) -> GatedFeedForward | FeedForward:
    if isinstance(forward, GatedFeedForward):
        return replace(forward, gate_up=_linear(forward.gate_up), down=_linear(forward.down))
    return replace(forward, up=_linear(forward.up), down=_linear(forward.down))


def _linear(linear: Linear) -> RowByRow:
    return RowByRow(linear.weight, linear.bias, linear.dots)


def _are_alike(one: Network, other: Network) -> bool:
    """Whether a short text has the same logits, read by `one` and, as many rows, by `other`."""
    ids = [place % one.config.vocab_size for place in range(min(_TRIED, one.config.context))]
    cache = one.new_cache()
    alone = [one.logits(one.read_each([token], [cache])) for token in ids]
    together = other.logits(other.read_known(ids, other.new_cache()))
    return np.concatenate(alone).tobytes() == together.tobytes()
