"""One part of a list, between two special tokens: it grows and shrinks token by token."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

from ._engines.base import Engine, Recovery, state_of
from ._engines.retokenizing import Oracle
from ._engines.stable_cuts import CutFinder

# Fewer ids than this are pushed one by one.
_FEW = 8
# Of how many of the last ids at least the states are kept. Of the others, one in as many.
_KEPT = 64


class _Inadmissible(NamedTuple):
    """The state of a list that no text begins with.

    Attributes:
        aside: decides whether later tokens make the list admissible again; see
            `Engine.step_if_refused`.
        good: the number of ids in its longest beginning that a text may begin with.
        state: the engine's state of that beginning.
    """

    aside: Any
    good: int
    state: Any


class Part:
    """A list that an engine verifies, and that may become inconsistent and consistent again.

    Any token may be pushed. The time of a push does not depend on the length of the list, unless
    the tokenizer itself must decide.

    Args:
        engine: gives the answers.
        oracle: the definition, for lists that no text begins with.
        cuts: finds stable cuts, before which such a list need not be retokenized; None if none are
            known.
        ids: what the list begins with, without special ids. It cannot be taken back.

    Attributes:
        ids: the list.
    """

    def __init__(
        self,
        engine: Engine[Any],
        oracle: Oracle,
        cuts: CutFinder | None,
        ids: Sequence[int] = (),
    ) -> None:
        self._engine = engine
        self._oracle = oracle
        self._finder = cuts
        # Many ids are read at once, as far as they are consistent.
        read = _consistent_beginning(oracle, ids)
        self.ids: list[int] = list(ids[:read])
        # The engine's state after `_first` ids and after each further one, or _Inadmissible. Older
        # ones are dropped, but for a few: the garbage collector looks at all again and again.
        self._states: list[Any] = [state_of(engine, self.ids)]
        self._first = read
        # (number of ids, the state after them), `_KEPT` apart.
        self._older: list[tuple[int, Any]] = []
        # (number of ids, last stable cut) for some admissible beginnings of the list; both rise.
        self._known_cuts: list[tuple[int, int]] = []
        # For each id after the first `_trail_from`: the engine's state, and whether the list is
        # unrecoverable.
        self._trail: list[tuple[Any, bool]] = []
        self._trail_from = 0
        # In mode `prefix` a list that a text may begin with may also be the whole text.
        self._may_always_end = oracle.mode == "prefix"
        for token in ids[read:]:
            self.push(token)

    def copy(self) -> Part:
        """An independent copy."""
        copy = Part(self._engine, self._oracle, self._finder)
        # States never change, so both copies share them; the lists change.
        copy.ids, copy._states = self.ids.copy(), self._states.copy()
        copy._first, copy._older = self._first, self._older.copy()
        copy._known_cuts = self._known_cuts.copy()
        return copy

    @property
    def state(self) -> Any:
        """The engine's state of the list; None where no text may begin with it."""
        state = self._states[-1]
        return None if isinstance(state, _Inadmissible) else state

    @property
    def consistent(self) -> bool:
        """Whether encode(decode(ids)) == ids; True for the empty list."""
        state = self._states[-1]
        if isinstance(state, _Inadmissible):
            return False
        return self._may_always_end or not self.ids or self._engine.is_consistent(state)

    @property
    def unrecoverable(self) -> bool:
        """Whether it is known that no continuation makes the list consistent again."""
        if not isinstance(last := self._states[-1], _Inadmissible):
            return False
        good = last.good
        state, unrecoverable = self._walk_trail(last)
        if unrecoverable:
            return True
        kept = self._engine.tokens_since_cut(state)
        if kept is not None:
            return len(self.ids) - kept > good
        return self._finder is not None and self._finder.advance(self.ids, self._cut(good)) > good

    def push(self, token: int) -> None:
        """Append an id, which is not special."""
        before = self._states[-1]
        if isinstance(before, _Inadmissible):
            state = self._after_inadmissible(before, token)
        else:
            state = self._engine.step_if_admitted(before, token)
            if state is None:
                aside = self._engine.step_if_refused(before, token)
                state = _Inadmissible(aside, len(self.ids), before)
        self.ids.append(token)
        self._states.append(state)
        if len(self._states) > 2 * _KEPT:
            self._older.append((self._first, self._states[0]))
            del self._states[:_KEPT]
            self._first += _KEPT

    def rewind(self, count: int) -> None:
        """Take back the last `count` ids that were pushed: at least 1."""
        left = len(self.ids) - count
        again: list[int] = []
        if left < self._first:
            while left < self._first:
                self._first, state = self._older.pop()
            self._states, again = [state], self.ids[self._first : left]
        del self.ids[left - len(again) :], self._states[left - len(again) - self._first + 1 :]
        while self._known_cuts and self._known_cuts[-1][0] > len(self.ids):
            self._known_cuts.pop()
        del self._trail[max(0, left - self._trail_from) :]
        for token in again:
            self.push(token)

    def _after_inadmissible(self, before: _Inadmissible, token: int) -> Any:
        """The state of the list followed by `token`, or _Inadmissible."""
        aside = before.aside
        if isinstance(aside, Recovery):
            state = self._recovered_by(token, before) if aside is Recovery.UNKNOWN else None
        else:
            # If the engine gave a state aside, it can also follow tokens from there.
            state = self._engine.step_if_admitted(aside, token)
            aside = self._engine.step_if_refused(aside, token) if state is None else None
        return before._replace(aside=aside) if state is None else state

    def _recovered_by(self, token: int, before: _Inadmissible) -> Any:
        """The state after `token`, if a text may begin with the list again; else None."""
        # What stands before a stable cut is read as it was, so only the rest is read again.
        if not self._oracle.may_begin([*self.ids[self._cut(before.good) :], token]):
            return None
        return reduce(self._engine.step, (*self.ids[before.good :], token), before.state)

    def _cut(self, good: int) -> int:
        """The last stable cut in the first `good` ids; a text may begin with these ids."""
        if self._finder is None:
            return 0
        before, cut = self._known_cuts[-1] if self._known_cuts else (0, 0)
        if before < good:
            cut = self._finder.advance(self.ids[:good], cut)
            self._known_cuts.append((good, cut))
        return cut

    def _walk_trail(self, last: _Inadmissible) -> tuple[Any, bool]:
        """The engine's state of the list, and whether an id after the good ones cannot recover."""
        good = last.good
        if self._trail_from != good:
            self._trail, self._trail_from = [], good
        state, unrecoverable = self._trail[-1] if self._trail else (last.state, False)
        for token in self.ids[good + len(self._trail) :]:
            if not unrecoverable:
                unrecoverable = self._engine.never_recovers(state, token)
                state = self._engine.step(state, token)
            self._trail.append((state, unrecoverable))
        return state, unrecoverable


def _consistent_beginning(oracle: Oracle, ids: Sequence[int]) -> int:
    """How many of the first ids are a consistent list: many, if there are many.

    A list that is read back as another one is consistent up to about the first difference. What
    follows may change a few tokens before it, so shorter and shorter beginnings are tried.
    """
    if len(ids) < _FEW:
        return 0
    end, step = oracle.first_difference(ids), 0
    if end == len(ids):
        return end
    while end - step >= _FEW:
        if oracle.first_difference(ids[: end - step]) == end - step:
            return end - step
        step = 2 * step + 1
    return 0
