"""Branches that wait to go on, by how probable they are for their length.

A short branch is more probable than a long one, and is no better for it. So the score of a branch
is compared with the best one that is known at the same place of the text. Past the last place that
was reached, each further byte is taken to cost as much as most bytes of most texts. (The metric of
sequential decoding: Fano 1963.)
"""

from __future__ import annotations

import heapq
from itertools import count

from .branch import Branch

_BITS_PER_BYTE = 2.5  # of text, for small models


class Frontier:
    """Waiting branches of one text."""

    def __init__(self) -> None:
        self._best = [0.0]  # by place, the best score there or, inside a token, at its end
        self._waiting: list[tuple[float, int, Branch]] = []
        self._numbers = count()

    def rank(self, branch: Branch) -> float:
        """How good a branch is: log2 of its probability beside that of the best one there."""
        best, place = self._best, branch.place
        reached = len(best) - 1
        if place <= reached:
            return branch.score - best[place]
        return branch.score - best[reached] + _BITS_PER_BYTE * (place - reached)

    def reach(self, branch: Branch) -> None:
        """Note how far a branch came."""
        best, place = self._best, branch.place
        if place < len(best):
            best[place] = max(best[place], branch.score)
        else:
            best += [branch.score] * (place + 1 - len(best))

    def add(self, branch: Branch) -> None:
        """Have a branch wait."""
        # Of equal ones the first comes first, and branches are never compared.
        heapq.heappush(self._waiting, (-self.rank(branch), next(self._numbers), branch))

    @property
    def best_rank(self) -> float:
        """The rank of the best waiting branch when it was added; minus infinity without any."""
        return -self._waiting[0][0] if self._waiting else -float("inf")

    def pop(self) -> Branch | None:
        """Take the best waiting branch, if there is one."""
        return heapq.heappop(self._waiting)[2] if self._waiting else None
