"""One text that is read by llama.cpp."""

from __future__ import annotations

from collections.abc import Sequence

from ticore.interfaces import Logits

from ._network import Network


class LlamaCppForward:
    """A CachedForward."""

    def __init__(self, network: Network) -> None:
        self._cache = network.new_cache()
        self._prompt: list[int] = []
        self._pushed: list[int] = []
        self._stale = False  # whether the cache holds ids that were rewound

    def begin(self, ids: Sequence[int]) -> Logits:
        """Read a prompt of at least one id: the logits after it, read-only."""
        self._prompt = list(ids)
        return self._cache.read(ids)

    def push(self, token: int) -> Logits:
        """Read one more id: the logits after it, read-only."""
        if self._stale:
            self._reread()
        logits = self._cache.read([token])
        self._pushed.append(token)
        return logits

    def rewind(self, count: int) -> None:
        """Forget the last `count` pushed ids.

        Where the cache cannot, the next push reads everything again, in the same steps, which give
        the same bits.
        """
        del self._pushed[-count:]
        self._stale = self._stale or not self._cache.forget(count)

    def _reread(self) -> None:
        self._cache.clear()
        self._cache.read(self._prompt)
        for token in self._pushed:
            self._cache.read([token])
        self._stale = False
