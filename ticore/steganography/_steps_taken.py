"""The steps of a text that was read, for other texts that begin alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from ._step import Step

_MOST_KEPT = 1 << 20  # candidates of steps, in 64 MB


class StepsTaken:
    """The steps of one text. Another text that begins with the same tokens takes them again.

    Args:
        of: which text's steps are kept when another one has other tokens.
    """

    def __init__(self, of: Literal["first", "last"] = "first") -> None:
        self._of = of
        self._ids: list[int] = []
        self._steps: list[Step] = []
        self._size = 0

    def after(self, ids: Sequence[int]) -> Step | None:
        """The step after these tokens, if it was added."""
        known = len(ids) < len(self._steps) and self._ids[: len(ids)] == ids
        return self._steps[len(ids)] if known else None

    @property
    def ids(self) -> Sequence[int]:
        """The tokens before the last step."""
        return self._ids

    def newest_first(self) -> Iterator[tuple[list[int], Step]]:
        """Each step with the tokens before it, from the last one back."""
        for n in reversed(range(len(self._steps))):
            yield self._ids[:n], self._steps[n]

    def add(self, ids: Sequence[int], step: Step) -> None:
        """Keep the step after these tokens, if it goes on where the last one was added."""
        if self._of == "last":
            self._drop_from(len(ids))
        goes_on = len(ids) == len(self._steps) and ids[: len(self._ids)] == self._ids
        if goes_on and self._size + len(step.pool) <= _MOST_KEPT:
            self._ids = list(ids)
            self._steps.append(step)
            self._size += len(step.pool)

    def _drop_from(self, count: int) -> None:
        """Drop the steps that have this number of tokens before them, or more."""
        self._size -= sum(len(step.pool) for step in self._steps[count:])
        del self._steps[count:], self._ids[max(0, count - 1) :]
