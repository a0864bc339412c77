"""One text that is read by a network."""

from __future__ import annotations

from collections.abc import Sequence

from ._device_logits import JaxLogits
from ._runner import Runner


class JaxForward:
    """A CachedForward."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._cache = runner.new_cache()

    def begin(self, ids: Sequence[int]) -> JaxLogits:
        """Read a prompt: the logits after it."""
        return JaxLogits(self._runner.read(ids, self._cache))

    def push(self, token: int) -> JaxLogits:
        """Read one more id: the logits after it."""
        return self.begin([token])

    def rewind(self, count: int) -> None:
        """Forget the last `count` ids."""
        self._cache.length -= count
