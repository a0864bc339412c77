"""One text being read by a network, with a row of logits at each place to come back to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import torch
from transformers import Cache

from .network import Network

Row = TypeVar("Row")


class Reading(Generic[Row]):
    """A prompt, and the ids pushed behind it.

    Args:
        network: reads.
        prompt: at least one id.
        keep: what becomes of each tensor of logits [width].

    Attributes:
        pushed: the ids behind the prompt.
        rows: what was kept after the prompt, then after each of `pushed`.
    """

    def __init__(
        self, network: Network, prompt: Sequence[int], keep: Callable[[torch.Tensor], Row]
    ) -> None:
        self._network = network
        self._prompt = prompt
        self._keep = keep
        self._cache: Cache | None = network.new_cache()
        self.pushed: list[int] = []
        self.rows = [keep(network.read(prompt, self._cache))]

    def push(self, token: int) -> None:
        """Read one more id."""
        cache = self._reread() if self._cache is None else self._cache
        self.rows.append(self._keep(self._network.read([token], cache)))
        self.pushed.append(token)

    def rewind(self, count: int) -> None:
        """Forget the last `count` pushed ids.

        A cache that cannot be cropped is dropped; the next push reads everything again, in the
        same steps and hence to the same bits.
        """
        if count == 0:
            return
        del self.pushed[-count:], self.rows[-count:]
        if not self._network.crops:
            self._cache = None
        elif self._cache is not None:
            self._cache.crop(-count)

    def _reread(self) -> Cache:
        self._cache = cache = self._network.new_cache()
        self._network.read(self._prompt, cache)
        for token in self.pushed:
            self._network.read([token], cache)
        return cache
