"""One text that is read by a network."""

from __future__ import annotations

from collections.abc import Sequence

from ticore.interfaces import Logits

from ._layers import Array
from ._network import Network


class EmbeddedForward:
    """A CachedForward."""

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

    def rewind(self, count: int) -> None:
        """Forget the last `count` ids."""
        self._cache.rewind(count)

    def _logits(self, states: Array) -> Logits:
        logits: Logits = self._network.logits(states[-1:])[0]
        logits.setflags(write=False)
        return logits
