"""Verification of byte-level BPE whose pretokenizer's expression is known, by table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from ...interfaces import TokenizerStructure
from ..engine import Bools
from ..lazy import Lazy
from ..modes import Mode, beginnings, pending
from ..oracle import Oracle
from ..patterns import Splitter
from ..recent import Recent
from .grouping import Grouping, Sorting
from .shapes import AMBIGUOUS, shapes_of, shorten
from .splits import END, Meetings, Tail, Verdict, decide
from .table_engine import TableEngine
from .vocabulary import Vocabulary

_EMPTY = Tail()
_BEGINNINGS, _TAILS = 1 << 14, 1 << 12  # that are remembered


@dataclass(frozen=True, slots=True)
class State:
    """A list of tokens, as far as it matters for what may follow.

    Attributes:
        ids: the tokens since the last settled boundary.
        apart: for each of them whether it stays apart from the one before; the first is True.
        text: their text, without an unfinished character.
        tail: that text as the expression sees it; None if only the tokenizer can decide.
        unit: bytes of the tokens that share an unfinished character, up to its first byte.
        unfinished: the bytes of that character.
        closed_by: the shapes of characters before which the text may end, for they begin a new part
            whatever follows; empty where it takes a closer look.
    """

    ids: tuple[int, ...] = ()
    apart: tuple[bool, ...] = ()
    text: str = ""
    tail: Tail | None = _EMPTY
    unit: bytes = b""
    unfinished: bytes = b""
    closed_by: frozenset[str] = frozenset()


class SplitEngine(TableEngine[State]):
    """Decides by the shapes of tokens and, within a part of the text, by the pair test.

    Args:
        structure: bytes as atoms, and one known expression.
        spelled: the bytes of every id.
        vocabulary: the pair test.
        grouping: what sorted the vocabulary.
        plain, near: the sorted vocabulary: in general, and for tokens behind an apostrophe or one
            character more.
        oracle: for the few tokens that no table decides about.
    """

    def __init__(
        self,
        structure: TokenizerStructure,
        spelled: Sequence[bytes],
        vocabulary: Vocabulary,
        grouping: Grouping,
        plain: Sorting,
        near: Sorting,
        oracle: Oracle,
    ) -> None:
        super().__init__(structure, spelled, oracle)
        (pattern,) = structure.pretokenizer
        self._vocabulary = vocabulary
        self._grouping = grouping
        self._plain, self._near = plain, near
        self._splitter = Splitter(pattern)
        self._shapes = shapes_of(pattern)
        self._continuing = np.array(
            [i for i in np.flatnonzero(vocabulary.reachable) if 0x80 <= spelled[i][0] < 0xC0],
            dtype=int,
        )
        self._completing = _completing(vocabulary, oracle.mode)
        self._meetings: Recent[str, Meetings] = Recent(4096)
        # Most tokens begin a part; all that begin one alike are looked at as if they came first.
        self._first = Lazy(self._find_first)
        self._begin = lru_cache(_BEGINNINGS)(partial(super().follow, self.start()))
        self._may_end = lru_cache(_TAILS)(partial(decide, self._splitter, group=END))

    def start(self) -> State:
        return State()

    def follow(self, state: State, token: int) -> State | None:
        if self._first[token] in state.closed_by:
            return self._begin(token)
        return super().follow(state, token)

    def step(self, state: State, token: int) -> State:
        if token in self._added.ids:
            return State()  # what follows is split and merged by itself
        apart = not state.ids or self._vocabulary.apart(state.ids[-1], token)
        return self._state((*state.ids, token), (*state.apart, apart))

    def finished_ok(self, state: State) -> bool:
        if state.tail is None:
            return self._oracle.finished_ok(state.ids)
        return not state.unfinished and self._may_end(state.tail) is Verdict.YES

    def loses(self, state: State, token: int) -> bool:
        return state.tail is not None and super().loses(state, token)

    def _key(self, state: State) -> Hashable:
        if state.tail is None:
            return None
        # What would be completed is named by its ids: runs that look alike may differ in length.
        ids = state.ids if state.tail.completing > self._completing.get((), frozenset()) else ()
        context = self._normalization.context(state.text) if state.unfinished else ""
        return state.tail, ids, state.ids[-1:], state.unit, state.unfinished, context

    # From lists to states.

    def _state(self, ids: tuple[int, ...], apart: tuple[bool, ...]) -> State:
        pieces = [self._spelled[i] for i in ids]
        data = b"".join(pieces)
        unfinished = pending(data)
        try:
            text = data[: len(data) - len(unfinished)].decode()
            ends = _in_characters(data, pieces, unfinished)
        except UnicodeDecodeError:
            return State(ids, apart, tail=None)
        if cut := self._last_cut(text, ends):
            first = ends.index(cut) + 1
            text = text[cut:]
            ends = [end - cut if end >= 0 else end for end in ends[first:]]
            ids, apart = ids[first:], (True, *apart[first + 1 :])
        if AMBIGUOUS in self._shapes.shape(text):
            return State(ids, apart, tail=None)
        tail = self._tail(ids, apart, text, ends)
        unit = b"" if not unfinished else text[max(ends, default=0) :].encode()
        closed_by = frozenset[str]() if unfinished else self._closed_by(text, tail)
        return State(ids, apart, text, tail, unit, unfinished, closed_by)

    def _closed_by(self, text: str, tail: Tail) -> frozenset[str]:
        """See State. Of a text that ends in white space it depends on what follows where it ends.

        And behind an apostrophe on the very letter that follows.
        """
        if (
            not text
            or text[-1].isspace()
            or tail.near_apostrophe
            or self._added.begun(text)
            or self._may_end(tail) is not Verdict.YES
        ):
            return frozenset()
        return self._shapes.closing(tail.shape[-1])

    def _find_first(self, token: int) -> str:
        """The shape of a token's first character, if that does not join; else empty."""
        data = self._spelled[token]
        text = data[: len(data) - len(pending(data))].decode(errors="replace")
        if not text or self._normalization.joins(text[0]):
            return ""
        return self._shapes.shape(text[0])

    def _last_cut(self, text: str, ends: Sequence[int]) -> int:
        """The last settled boundary of `text` that a token ends at; 0 if there is none.

        Not within reach of an added token that has begun, nor before a character that composes.
        """
        for boundary in self._splitter.settled(text):
            if (
                boundary in ends
                and not self._normalization.joins(text[boundary])
                and not self._added.begun(text[:boundary])
            ):
                return boundary
        return 0

    def _tail(
        self, ids: tuple[int, ...], apart: tuple[bool, ...], text: str, ends: Sequence[int]
    ) -> Tail:
        """The tail of tokens that end at the offsets `ends`, -1 inside characters."""
        starts = [0, *ends[:-1]]
        shape, moved = shorten(self._shapes.shape(text[: max(ends, default=0)]), ends)
        kept = [n for n, end in enumerate(moved) if end >= 0]
        open_at = max((n + 1 for n, end in enumerate(ends) if end >= 0), default=0)
        return Tail(
            shape=shape,
            marks=tuple(moved[n] for n in kept),
            apart=tuple(apart[n + 1] for n in kept if n + 1 < open_at),
            alone=tuple(bool(starts[n] >= 0 and self._vocabulary.alone[ids[n]]) for n in kept),
            replaced=self._replaced(ids, moved),
            apart_from_open=open_at in (0, len(ids)) or apart[open_at],
            completing=self._completed_by(ids),
        )

    def _replaced(self, ids: tuple[int, ...], moved: Sequence[int]) -> frozenset[tuple[int, int]]:
        if not self._vocabulary.replaced:
            return frozenset()
        places = (0, *moved)
        return frozenset(
            (places[i], places[j])
            for i in range(len(ids))
            for j in range(i + 2, len(ids) + 1)
            if ids[i:j] in self._vocabulary.replaced
        )

    def _completed_by(self, ids: tuple[int, ...]) -> frozenset[int]:
        if not self._completing:
            return frozenset()
        ends = (ids[n:] for n in range(len(ids) + 1))
        return frozenset().union(*(self._completing.get(end, ()) for end in ends))

    # What may follow.

    def _decide(self, state: State) -> Bools:
        tail = state.tail
        assert tail is not None  # else there is no key
        if state.unfinished:
            verdicts = self._decide_unfinished(state, tail)
        else:
            verdicts = self._decide_sorted(tail)
        verdicts[list(tail.completing)] = Verdict.ASK
        answers: Bools = verdicts == Verdict.YES
        if state.ids:
            answers |= (verdicts == Verdict.IF_APART) & self._vocabulary.row(state.ids[-1])
        asked = np.flatnonzero(verdicts == Verdict.ASK)
        if len(asked):
            answers[asked] = self._oracle.admits(state.ids, asked)
        return answers

    def _decide_one(self, state: State, token: int) -> bool:
        tail = state.tail
        assert tail is not None  # else there is no table
        if state.unfinished:
            return bool(self._decide(state)[token])
        sorting = self._sorting(tail)
        verdict = decide(self._splitter, tail, sorting.groups[sorting.of[token]])
        if token in tail.completing:
            verdict = Verdict.ASK
        if verdict is Verdict.IF_APART:
            return bool(state.ids) and self._vocabulary.apart(state.ids[-1], token)
        if verdict is Verdict.ASK:
            return bool(self._oracle.admits(state.ids, [token])[0])
        return verdict is Verdict.YES

    def _decide_sorted(self, tail: Tail) -> npt.NDArray[np.uint8]:
        """The verdict on every id."""
        sorting = self._sorting(tail)
        known = self._meetings.get(
            tail.shape, lambda: Meetings(self._shapes, self._splitter, tail.shape, sorting.groups)
        )
        return known.verdicts(tail).take(sorting.of)

    def _sorting(self, tail: Tail) -> Sorting:
        return self._near if tail.near_apostrophe else self._plain

    def _decide_unfinished(self, state: State, tail: Tail) -> npt.NDArray[np.uint8]:
        """After a token that ends inside a character: what spells its next bytes, one by one."""
        verdicts = np.zeros(len(self._spelled), dtype=np.uint8)
        row = self._vocabulary.row(state.ids[-1])
        for token in self._continuing[row[self._continuing]].tolist():
            data = state.unit + state.unfinished + self._spelled[token]
            group = self._grouping.group(data, token, near_apostrophe=tail.near_apostrophe)
            verdict = decide(self._splitter, tail, group)
            if verdict is Verdict.IF_APART:
                verdict = Verdict.YES if tail.apart_from_open else Verdict.NO
            if verdict is Verdict.YES and not self._keeps(state, token):
                verdict = Verdict.NO
            verdicts[token] = verdict
        return verdicts

    def _keeps(self, state: State, token: int) -> bool:
        """Whether the normaliser leaves what is finished now alone, as it does the text before."""
        data = state.unfinished + self._spelled[token]
        text = data[: len(data) - len(pending(data))].decode()
        return self._normalization.keeps(self._context(state) + text)


def _in_characters(data: bytes, pieces: Sequence[bytes], unfinished: bytes) -> list[int]:
    """Where pieces of `data` end, counted in characters; -1 for those that end inside one."""
    ends, at, start, characters = [], 0, 0, 0
    whole = len(data) - len(unfinished)
    for piece in pieces:
        at += len(piece)
        inside = at > whole or (at < len(data) and 0x80 <= data[at] < 0xC0)
        if inside:
            ends.append(-1)
        else:
            characters += len(data[start:at].decode())
            start = at
            ends.append(characters)
    return ends


def _completing(vocabulary: Vocabulary, mode: Mode) -> dict[tuple[int, ...], frozenset[int]]:
    """For lists of tokens the ids that complete with them what is replaced as a whole part."""
    followings: list[tuple[int, ...]] = [()]
    if mode == "viable":
        followings += [vocabulary.segment(text.encode()) for text in beginnings()]
    found: dict[tuple[int, ...], set[int]] = {}
    for whole in vocabulary.replaced:
        for following in followings:
            kept = len(whole) - len(following)
            if kept > 0 and whole[kept:] == following:
                found.setdefault(whole[: kept - 1], set()).add(whole[kept - 1])
    return {ids: frozenset(tokens) for ids, tokens in found.items()}
