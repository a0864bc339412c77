"""One text that is read by a network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import torch
from transformers import Cache

from ._network import Network

Kept = TypeVar("Kept")


class TorchForward(Generic[Kept]):
    """A CachedForward.

    Args:
        network: computes.
        keep: turns each tensor of logits [width] into what is kept.
    """

    def __init__(self, network: Network, keep: Callable[[torch.Tensor], Kept]) -> None:
        self._network = network
        self._keep = keep
        self._cache: Cache | None = None
        self._prompt: list[int] = []
        self._pushed: list[int] = []

    def begin(self, ids: Sequence[int]) -> Kept:
        """Read a prompt: the logits after it."""
        self._prompt = list(ids)
        self._cache = cache = self._network.new_cache()
        return self._keep(self._network.read(ids, cache))

    def push(self, token: int) -> Kept:
        """Read one more id: the logits after it."""
        cache = self._reread() if self._cache is None else self._cache
        logits = self._network.read([token], cache)
        self._pushed.append(token)
        return self._keep(logits)

    def rewind(self, count: int) -> None:
        """Forget the last `count` pushed ids; `count` is at least 1.

        A cache that cannot be cropped is dropped. The next push reads everything again, in the
        same steps, which give the same bits.
        """
        del self._pushed[-count:]
        if not self._network.crops:
            self._cache = None
        elif self._cache is not None:
            self._cache.crop(-count)

    def _reread(self) -> Cache:
        self._cache = cache = self._network.new_cache()
        self._network.read(self._prompt, cache)
        for token in self._pushed:
            self._network.read([token], cache)
        return cache
