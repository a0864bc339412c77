"""One text that is read by a network."""

from __future__ import annotations

from collections.abc import Sequence

from ticore.interfaces import Logits

from ._network import Cache, Network


class EmbeddedForward:
    """A CachedForward."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._cache = Cache(network.config, network.dtype)

    def begin(self, ids: Sequence[int]) -> Logits:
        """Read a prompt: the logits after it, read-only."""
        states = self._network.read(ids, self._cache)
        logits: Logits = self._network.logits(states[-1:])[0]
        logits.setflags(write=False)
        return logits

    def push(self, token: int) -> Logits:
        """Read one more id: the logits after it, read-only."""
        return self.begin([token])

    def rewind(self, count: int) -> None:
        """Forget the last `count` ids."""
        self._cache.length -= count
