"""One list of tokens without special ones, and what may follow it while it grows and shrinks."""

from __future__ import annotations

from functools import reduce
from typing import Any, NamedTuple

from .engine import Engine, Hope
from .oracle import Oracle
from .tail import CutFinder


class _Inadmissible(NamedTuple):
    """Stands for the state of a list that no text begins with.

    Attributes:
        aside: what tells whether the list is mended later on; see `Engine.aside`.
        good: how many of its first ids a text may begin with, at most.
    """

    aside: Any
    good: int


class Part:
    """A list that an engine verifies, with what it takes to know when a list is mended.

    It takes any token, also one that makes the list inconsistent. A push takes as long after twenty
    thousand tokens as after twenty, but where the tokenizer itself must say.

    Args:
        engine: what answers.
        oracle: the definition, for lists that no text begins with.
        cuts: where such a list need not be looked at; None if that is not known.

    Attributes:
        ids: the list.
    """

    def __init__(self, engine: Engine[Any], oracle: Oracle, cuts: CutFinder | None) -> None:
        self.ids: list[int] = []
        self._engine = engine
        self._oracle = oracle
        self._finder = cuts
        # The engine's state after each push, or _Inadmissible.
        self._states: list[Any] = [engine.start()]
        # (number of ids, cut) of admissible beginnings of the list whose last stable cut was asked
        # for, ascending in both.
        self._known_cuts: list[tuple[int, int]] = []
        # For each id after the first `_trail_from` the engine's state, and whether it is lost.
        self._trail: list[tuple[Any, bool]] = []
        self._trail_from = 0
        # In this mode whatever may begin a text may be all of it.
        self._ends_anywhere = oracle.mode == "prefix"

    def copy(self) -> Part:
        """The same list, which goes on by itself."""
        copy = Part(self._engine, self._oracle, self._finder)
        # States never change, and may be shared; lists of them may not.
        copy.ids, copy._states = self.ids.copy(), self._states.copy()
        copy._known_cuts = self._known_cuts.copy()
        return copy

    @property
    def state(self) -> Any:
        """The engine's state of the list; None where no text may begin with it."""
        state = self._states[-1]
        return None if isinstance(state, _Inadmissible) else state

    @property
    def consistent(self) -> bool:
        """encode(decode(ids)) == ids. The empty list is."""
        state = self._states[-1]
        if isinstance(state, _Inadmissible):
            return False
        return self._ends_anywhere or not self.ids or self._engine.finished_ok(state)

    @property
    def lost(self) -> bool:
        """Whether no continuation makes the list consistent again, as far as that is known."""
        if not isinstance(last := self._states[-1], _Inadmissible):
            return False
        good = last.good
        state, is_lost = self._walk_trail(good)
        if is_lost:
            return True
        kept = self._engine.kept(state)
        if kept is not None:
            return len(self.ids) - kept > good
        return self._finder is not None and self._finder.advance(self.ids, self._cut(good)) > good

    def push(self, token: int) -> None:
        """Append an id that is not special."""
        before = self._states[-1]
        if isinstance(before, _Inadmissible):
            state = self._after_inadmissible(before, token)
        else:
            state = self._engine.follow(before, token)
            if state is None:
                state = _Inadmissible(self._engine.aside(before, token), len(self.ids))
        self.ids.append(token)
        self._states.append(state)

    def rewind(self, count: int) -> None:
        """Take back the last `count` ids, 1 or more; there are as many."""
        del self.ids[-count:], self._states[-count:]
        left = len(self.ids)
        while self._known_cuts and self._known_cuts[-1][0] > left:
            self._known_cuts.pop()
        del self._trail[max(0, left - self._trail_from) :]

    def _after_inadmissible(self, before: _Inadmissible, token: int) -> Any:
        """The state of the list followed by `token`, or _Inadmissible."""
        aside, good = before
        if isinstance(aside, Hope):
            state = self._mended_by(token, good) if aside is Hope.UNKNOWN else None
        else:
            # An engine that gave a state aside answers from it as well.
            state = self._engine.follow(aside, token)
            aside = self._engine.aside(aside, token) if state is None else None
        return _Inadmissible(aside, good) if state is None else state

    def _mended_by(self, token: int, good: int) -> Any:
        """The state after `token`, if a text may begin with the list again; else None."""
        # Inconsistent tokens after a stable cut do not move it, since no continuation does.
        if not self._oracle.may_begin([*self.ids[self._cut(good) :], token]):
            return None
        return reduce(self._engine.step, (*self.ids[good:], token), self._states[good])

    def _cut(self, good: int) -> int:
        """The last stable cut of the first `good` ids, which a text may begin with."""
        if self._finder is None:
            return 0
        before, cut = self._known_cuts[-1] if self._known_cuts else (0, 0)
        if before < good:
            cut = self._finder.advance(self.ids[:good], cut)
            self._known_cuts.append((good, cut))
        return cut

    def _walk_trail(self, good: int) -> tuple[Any, bool]:
        """The engine's state of the list, and whether some id after the good ones lost it."""
        if self._trail_from != good:
            self._trail, self._trail_from = [], good
        state, is_lost = self._trail[-1] if self._trail else (self._states[good], False)
        for token in self.ids[good + len(self._trail) :]:
            if not is_lost:
                is_lost = self._engine.loses(state, token)
                state = self._engine.step(state, token)
            self._trail.append((state, is_lost))
        return state, is_lost
