"""One text that is read by a network."""

from __future__ import annotations

from collections.abc import Sequence

from .rows import Row
from .runner import Runner


class JaxText:
    """A TextReader."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._cache = runner.new_cache()

    def begin(self, ids: Sequence[int]) -> Row:
        """Read a prompt: the logits after it."""
        return Row(self._runner.read(ids, self._cache))

    def push(self, token: int) -> Row:
        """Read one more id: the logits after it."""
        return self.begin([token])

    def rewind(self, count: int) -> None:
        """Forget the last `count` ids."""
        self._cache.length -= count
