"""Branches that wait to go on, by how probable they are for their length.

A short branch is more probable than a long one, and is no better for it. So the score of a branch
is compared with the best one that is known at the same place of the text. Past the last place that
was reached, each further byte is taken to cost as much as most bytes of most texts. (The metric of
sequential decoding: Fano 1963.)

Where a branch came to a dead end, its error is mostly near: after a wrong token the next ones soon
are no candidates. So branches count for less the further they are before the last place. But where
a message or a check (see _checked_frame.py) is not right, the error may be anywhere, and sometimes
a dead end is late. So beyond some bytes the distance counts for little.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from itertools import count
from typing import Generic, TypeVar

from .branch import Branch

T = TypeVar("T")

_BITS_PER_BYTE = 2.0  # of text, for small models
# log2 of how much rarer an error is that is some bytes before the last place than one just there.
_BITS_PER_BYTE_BACK = 0.5
_MOST_BITS_BACK, _BITS_PER_BYTE_FAR = 8.0, 0.01

_COMPARED = 8  # waiting branches, of which one is taken
_LEAST_COST = 4.0  # tokens that are read after a branch until it mostly ends


class Frontier(Generic[T]):
    """Waiting branches of one text."""

    def __init__(self) -> None:
        self._best = [0.0]  # by place, the best score there or, inside a token, at its end
        self._waiting: list[tuple[float, int, Branch[T]]] = []
        self._numbers = count()

    def rank(self, branch: Branch[T]) -> float:
        """How good a branch is: log2 of its probability beside that of the best one there.

        Less what it costs to be before the last place that was reached.
        """
        best, place = self._best, branch.place
        back = len(best) - 1 - place
        if back < 0:
            return branch.score - best[-1] - _BITS_PER_BYTE * back
        near, far = _BITS_PER_BYTE_BACK * back, _MOST_BITS_BACK + _BITS_PER_BYTE_FAR * back
        return branch.score - best[place] - min(near, far)

    def reach(self, branch: Branch[T]) -> None:
        """Note how far a branch came."""
        best, place = self._best, branch.place
        if place < len(best):
            best[place] = max(best[place], branch.score)
        else:
            best += [branch.score] * (place + 1 - len(best))

    def add(self, branch: Branch[T]) -> None:
        """Have a branch wait."""
        # Of equal ones the first comes first, and branches are never compared.
        heapq.heappush(self._waiting, (-self.rank(branch), next(self._numbers), branch))

    @property
    def best_rank(self) -> float:
        """The rank of the best waiting branch; minus infinity without any."""
        self._settle()
        return -self._waiting[0][0] if self._waiting else -float("inf")

    def pop(self, cost: Callable[[Branch[T]], int]) -> Branch[T] | None:
        """Take a waiting branch that is good for its cost, if there is one.

        Of several ways to look for something the order that finds it soonest is by the chance to
        find it, divided by what it costs.

        Args:
            cost: of a branch, how many tokens must be read again to go on from it.
        """
        best = list[tuple[float, int, Branch[T]]]()
        while self._waiting and len(best) < _COMPARED:
            self._settle()
            best.append(heapq.heappop(self._waiting))
        if not best:
            return None
        chosen = min(best, key=lambda each: each[0] + math.log2(_LEAST_COST + cost(each[2])))
        for each in best:
            if each is not chosen:
                heapq.heappush(self._waiting, each)
        return chosen[2]

    def _settle(self) -> None:
        """Have the first waiting branch be the best one by what is known now.

        Ranks nearly always fall as more is known, so only the first one is looked at. One that
        rises comes a little later than it could.
        """
        while self._waiting:
            before, number, branch = self._waiting[0]
            now = -self.rank(branch)
            if now <= before:
                return
            heapq.heapreplace(self._waiting, (now, number, branch))
