"""One text that is read by a network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ticore.interfaces import Logits

from ._layers import Array
from ._network import Network
from ._row_by_row import ROWS, row_by_row


class EmbeddedForward:
    """A ManyForward."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._cache = network.new_cache()

    def begin(self, ids: Sequence[int]) -> Logits:
        """Read a prompt of at least one id: the logits after it, read-only."""
        for chunk in self._network.read(ids, self._cache):
            states = chunk
        return self._logits(states)

    def push(self, token: int) -> Logits:
        """Read one more id: the logits after it, read-only."""
        return self._logits(self._network.read_each([token], [self._cache]))

    def push_many(self, tokens: Sequence[int]) -> Logits:
        """Read ids: the logits float[len(tokens), vocab] after each, as `push` gives them."""
        network = row_by_row(self._network)
        if network is None:
            return np.stack([self.push(token) for token in tokens])
        rows: list[Array] = []
        for at in range(0, len(tokens), ROWS):
            states = network.read_known(tokens[at : at + ROWS], self._cache)
            rows.append(network.logits(states))
        logits: Logits = np.concatenate(rows)
        logits.setflags(write=False)
        return logits

    def rewind(self, count: int) -> None:
        """Forget the last `count` ids."""
        self._cache.rewind(count)

    def _logits(self, states: Array) -> Logits:
        logits: Logits = self._network.logits(states[-1:])[0]
        logits.setflags(write=False)
        return logits
