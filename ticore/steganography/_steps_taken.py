"""The steps of a text that was read, for other texts that begin alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ._step import Step

_MOST_KEPT = 1 << 20  # candidates of steps, in 64 MB


class StepsTaken:
    """The steps of one text. Another text that begins with the same tokens takes them again."""

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._steps: list[Step] = []
        self._size = 0

    def after(self, ids: Sequence[int]) -> Step | None:
        """The step after these tokens, if it was added."""
        known = len(ids) < len(self._steps) and self._ids[: len(ids)] == ids
        return self._steps[len(ids)] if known else None

    def newest_first(self) -> Iterator[tuple[list[int], Step]]:
        """Each step with the tokens before it, from the last one back."""
        for n in reversed(range(len(self._steps))):
            yield self._ids[:n], self._steps[n]

    def add(self, ids: Sequence[int], step: Step) -> None:
        """Keep the step after these tokens, if it goes on where the last one was added."""
        goes_on = len(ids) == len(self._steps) and ids[: len(self._ids)] == self._ids
        if goes_on and self._size + len(step.pool) <= _MOST_KEPT:
            self._ids = list(ids)
            self._steps.append(step)
            self._size += len(step.pool)
