"""Verification by the tokenizer itself, of no more of the text than can still change."""

from __future__ import annotations

from .engine import Bools, Hope, Ids
from .oracle import Oracle
from .tail import CutFinder

State = tuple[int, ...]


class CutEngine:
    """The Engine of the slower rungs; a state is the tokens since the last stable cut.

    Args:
        oracle: retokenises.
        cuts: finds the cuts; None to retokenise the whole list each time.
    """

    def __init__(self, oracle: Oracle, cuts: CutFinder | None) -> None:
        self._oracle = oracle
        self._cuts = cuts

    def start(self) -> State:
        return ()

    def step(self, state: State, token: int) -> State:
        ids = (*state, token)
        return ids if self._cuts is None else ids[self._cuts.advance(ids, 0) :]

    def admits(self, state: State, candidates: Ids) -> Bools:
        return self._oracle.admits(state, candidates.tolist())

    def follow(self, state: State, token: int) -> State | None:
        return self.step(state, token) if self._oracle.may_begin([*state, token]) else None

    def aside(self, state: State, token: int) -> State | Hope:
        return Hope.UNKNOWN

    def kept(self, state: State) -> int | None:
        return None

    def mask(self, state: State) -> Bools:
        return self._oracle.admits(state, range(self._oracle.tokenizer.vocab_size))

    def loses(self, state: State, token: int) -> bool:
        return False

    def finished_ok(self, state: State) -> bool:
        return self._oracle.finished_ok(state)
