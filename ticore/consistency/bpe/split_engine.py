"""Verification of byte-level BPE whose pretokenizer's expression is known, by table."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import takewhile
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import regex

from ...interfaces import TokenizerStructure
from ..chain import Chain
from ..characters import combining
from ..engine import Bools, Hope
from ..lazy import Lazy
from ..modes import Mode, beginnings, pending
from ..oracle import Oracle
from ..patterns import Splitter
from ..recent import Recent
from .folding import MARGIN, inside
from .grouping import Grouping, Sorting
from .shapes import AMBIGUOUS, shapes_of, shorten
from .splits import END, Meetings, Tail, Verdict, decide
from .table_engine import TableEngine
from .vocabulary import Vocabulary

_EMPTY = Tail()
_NO_TOKENS = Chain()
V = TypeVar("V")

_STRETCH = regex.compile(rf"(.)\1{{{2 * MARGIN},}}", regex.DOTALL)
_BEGINNINGS, _TAILS = 1 << 14, 1 << 12  # that are remembered


@dataclass(frozen=True, slots=True)
class State:
    """A list of tokens, as far as it matters for what may follow.

    Of its text no more is kept than can still be split anew, and of that only a bounded part: what
    `folding` finds inside a long run is left out. So a state takes as much memory, and the next one
    as much time, after twenty thousand letters as after twenty.

    Attributes:
        tokens: since the last settled boundary, all of them. Read where the tokenizer is asked.
        text: their text, without an unfinished character, and without what was left out.
        ends: where tokens end in `text`, but for those that end inside a character.
        numbers: of the tokens that end there; see `Chain.number`.
        apart: for each of them whether the token after it, if there is one, stays apart from it.
        alone: for each of them whether it can only be a part of its own.
        replaced: (start, end) of tokens which, as a part of their own, would be another token.
        tail: the text as the expression sees it; None if only the tokenizer can decide.
        unit: bytes of the tokens that share an unfinished character, up to its first byte.
        unfinished: the bytes of that character.
        closed_by: the shapes of characters before which the text may end, for they begin a new part
            whatever follows; empty where it takes a closer look.
        broken: no text begins with the list, whatever follows.
    """

    tokens: Chain = _NO_TOKENS
    text: str = ""
    ends: tuple[int, ...] = ()
    numbers: tuple[int, ...] = ()
    apart: tuple[bool, ...] = ()
    alone: tuple[bool, ...] = ()
    replaced: tuple[tuple[int, int], ...] = ()
    tail: Tail | None = _EMPTY
    unit: bytes = b""
    unfinished: bytes = b""
    closed_by: frozenset[str] = frozenset()
    broken: bool = False

    @property
    def ids(self) -> tuple[int, ...]:
        """The tokens since the last settled boundary, copied out."""
        return self.tokens.ids()


class _Reading(NamedTuple):
    """A list before it is cut and folded; the fields are those of State."""

    tokens: Chain
    text: str
    ends: tuple[int, ...]
    numbers: tuple[int, ...]
    apart: tuple[bool, ...]
    alone: tuple[bool, ...]
    replaced: tuple[tuple[int, int], ...]
    unfinished: bytes

    def since(self, cut: int) -> _Reading:
        """What stands behind `cut`, where a token ends."""
        first = self.ends.index(cut) + 1
        return self._replace(
            tokens=self.tokens.since(self.numbers[first - 1]),
            text=self.text[cut:],
            ends=tuple(end - cut for end in self.ends[first:]),
            numbers=self.numbers[first:],
            apart=self.apart[first:],
            alone=self.alone[first:],
            replaced=tuple((a - cut, b - cut) for a, b in self.replaced if a >= cut),
        )

    def without(self, start: int, end: int) -> _Reading:
        """The same without the characters between two offsets, and without what ends there."""
        kept = [n for n, at in enumerate(self.ends) if not start <= at <= end]
        moved = end - start
        return self._replace(
            text=self.text[:start] + self.text[end:],
            ends=tuple(at if at < start else at - moved for at in map(self.ends.__getitem__, kept)),
            numbers=tuple(self.numbers[n] for n in kept),
            apart=tuple(self.apart[n] for n in kept if n < len(self.apart)),
            alone=tuple(self.alone[n] for n in kept),
            replaced=tuple(
                (a if a < start else a - moved, b if b < start else b - moved)
                for a, b in self.replaced
                if not (start <= a <= end or start <= b <= end)
            ),
        )


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
        reachable = np.flatnonzero(vocabulary.reachable).tolist()
        self._continuing = {i: None for i in reachable if 0x80 <= spelled[i][0] < 0xC0}
        self._may_occur = structure.pieces & (vocabulary.reachable | vocabulary.alone)
        completing = _completing(vocabulary, oracle.mode)
        self._completing_nothing = completing.pop((), frozenset())
        self._completing = _Backwards[frozenset[int]]()
        for tokens, completed in completing.items():
            self._completing.add(tokens, completed)
        self._replaced = _Backwards[bool]()
        for tokens in vocabulary.replaced:
            self._replaced.add(tokens, True)
        self._inside = inside(pattern)
        self._part_starts = lru_cache(_TAILS)(self._find_part_starts)
        # An added token that begins in the text must be seen, and so must what is composed.
        self._margin = max(16, self._added.longest + 8)
        self._most = 2 * self._margin + 16
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
        longer = self._longer(state, token)
        return self._settle(longer) if isinstance(longer, _Reading) else longer

    def aside(self, state: State, token: int) -> State | Hope:
        """See Engine. What a tail does not show is looked at here; the rest it remembers itself."""
        if state.tail is None or token in self._added.ids:
            return Hope.NONE if state.broken else Hope.UNKNOWN
        longer = self._longer(state, token)
        if not isinstance(longer, _Reading):
            return Hope.NONE if longer.broken else Hope.UNKNOWN
        # No part of a text is ever split inside a character.
        in_character = bool(state.unfinished)
        if not self._may_occur[token] or (in_character and not self._follows(state, token)):
            return Hope.NONE
        more = longer.text[len(state.text) :]
        if (
            self._is_forbidden(state, token)
            or self._added.occurs_in(state.text[-self._added.longest :] + more)
            or not self._normalization.keeps(self._normalization.context(state.text) + more)
        ):
            return Hope.UNKNOWN
        settled = self._settle(longer)
        if settled.broken or settled.tail is None or not self._stood(longer, settled):
            return Hope.NONE
        return settled

    def kept(self, state: State) -> int | None:
        return len(state.tokens)

    def finished_ok(self, state: State) -> bool:
        if state.tail is None:
            return not state.broken and self._oracle.finished_ok(state.ids)
        return not state.unfinished and self._may_end(state.tail) is Verdict.YES

    def loses(self, state: State, token: int) -> bool:
        return state.broken or (state.tail is not None and super().loses(state, token))

    def _key(self, state: State) -> Hashable:
        if state.tail is None:
            return None
        # What would be completed is named by its ids: runs that look alike may differ in length.
        ids = state.ids if state.tail.completing > self._completing_nothing else ()
        context = self._normalization.context(state.text) if state.unfinished else ""
        last = state.tokens.token if state.tokens else None
        return state.tail, ids, last, state.unit, state.unfinished, context

    def _has_begun(self, state: State) -> bool:
        return True  # there is no dummy prefix: spaces are a text like others

    # From lists to states.

    def _longer(self, state: State, token: int) -> _Reading | State:
        """The list of `state` and `token`; a state where that cannot be read on from there."""
        tokens = state.tokens.then(token)
        if state.tail is None:
            return replace(state, tokens=tokens) if state.broken else self._read_anew(tokens)
        data = state.unfinished + self._spelled[token]
        unfinished = pending(data)
        try:
            more = data[: len(data) - len(unfinished)].decode()
        except UnicodeDecodeError:
            return State(tokens, tail=None, broken=True)
        if AMBIGUOUS in self._shapes.shape(more):
            return self._read_anew(tokens)
        apart = state.apart
        if state.tokens and not state.unfinished:
            apart = (*apart, self._follows(state, token))
        text = state.text + more
        if unfinished:
            fields = state.ends, state.numbers, apart, state.alone, state.replaced
            return _Reading(tokens, text, *fields, unfinished)
        return _Reading(
            tokens,
            text,
            (*state.ends, len(text)),
            (*state.numbers, tokens.number),
            apart,
            (*state.alone, not state.unfinished and bool(self._vocabulary.alone[token])),
            (*state.replaced, *self._find_replaced(state, tokens, len(text))),
            b"",
        )

    def _follows(self, state: State, token: int) -> bool:
        return self._vocabulary.apart(state.tokens.token, token)

    def _read_anew(self, tokens: Chain) -> State:
        """The state of tokens whose text holds characters that are not certain.

        As long as they are not settled, it is read as a whole with each token.
        """
        ids = tokens.ids()
        pieces = [self._spelled[i] for i in ids]
        data = b"".join(pieces)
        unfinished = pending(data)
        try:
            text = data[: len(data) - len(unfinished)].decode()
        except UnicodeDecodeError:
            return State(tokens, tail=None, broken=True)
        ends = _in_characters(data, pieces, unfinished)
        cut, _ = self._last_cut(text, ends)
        first = ends.index(cut) + 1 if cut else 0
        tokens = tokens.since(tokens.number - len(ids) + first)
        if AMBIGUOUS in self._shapes.shape(text[cut:]):
            return State(tokens, tail=None)
        # Nothing is uncertain any more, so that the tokens can be read one by one.
        state = State(_NO_TOKENS)
        for token in ids[first:]:
            state = self.step(state, token)
        return state

    def _settle(self, longer: _Reading) -> State:
        """The state of a list, its text cut at the last settled boundary, and folded."""
        cut, is_wrong = self._last_cut(longer.text, longer.ends)
        if is_wrong:
            return State(longer.tokens, tail=None, broken=True)
        if cut:
            longer = longer.since(cut)
        if len(longer.text) > self._most:
            folded = self._fold(longer)
            if folded is None:
                return State(longer.tokens, tail=None, broken=True)
            longer = folded
        tail = self._tail(longer)
        text, ends, unfinished = longer.text, longer.ends, longer.unfinished
        unit = text[ends[-1] if ends else 0 :].encode() if unfinished else b""
        closed_by = frozenset[str]() if unfinished else self._closed_by(text, tail)
        return State(*longer[:-1], tail, unit, unfinished, closed_by)

    def _closed_by(self, text: str, tail: Tail) -> frozenset[str]:
        """See State. Of a text that ends in white space it depends on what follows where it ends.

        And behind an apostrophe on the very letter that follows.
        """
        if (
            not text
            or text[-1].isspace()
            or tail.near_apostrophe
            or self._added.has_begun(text)
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

    def _last_cut(self, text: str, ends: Sequence[int]) -> tuple[int, bool]:
        """The last settled boundary of `text` that a token ends at; 0 if there is none.

        Not within reach of an added token that has begun, nor before a character that composes.

        Returns:
            The boundary, and whether there is one behind it that no token ends at: then the tokens
            are wrong, whatever follows.
        """
        is_wrong = False
        for boundary in self._splitter.settled(text):
            if not self._normalization.joins(text[boundary]) and not self._added.has_begun(
                text[:boundary]
            ):
                if boundary in ends:
                    return boundary, is_wrong
                is_wrong = True
        return 0, is_wrong

    def _stood(self, longer: _Reading, settled: State) -> bool:
        """Whether the parts before the last cut are right, and what stands inside a run.

        A tail shows neither.
        """
        cut = (
            longer.ends[longer.numbers.index(start)]
            if (start := settled.tokens.number - len(settled.tokens)) in longer.numbers
            else 0
        )
        start = 0
        for end in self._splitter.ends(longer.text):
            if end > cut:
                break
            if end not in longer.ends or (start, end) in longer.replaced:
                return False
            if not all(
                apart
                for at, apart in zip(longer.ends, longer.apart, strict=False)
                if start < at < end
            ):
                return False
            start = end
        _, moved = shorten(self._shapes.shape(settled.text), settled.ends)
        return all(apart or at >= 0 for at, apart in zip(moved, settled.apart, strict=False))

    def _fold(self, longer: _Reading) -> _Reading | None:
        """The same with less text; None if tokens meet there that do not stay apart."""
        ends, text = longer.ends, longer.text
        last = min(len(text) - self._margin, ends[-1] - 1) if ends else 0
        labels = self._inside(self._shapes.shape(text))
        for run in reversed(list(_STRETCH.finditer(labels))):
            start, end = run.start() + MARGIN, min(run.end() - MARGIN, last)
            end = self._seam(text, start, end)
            if end <= start:
                continue
            dropped = zip(longer.ends, longer.apart, strict=False)
            if not all(apart for at, apart in dropped if start <= at <= end):
                return None
            longer = longer.without(start, end)
        return longer

    def _seam(self, text: str, start: int, end: int) -> int:
        """The last place up to `end` at which text left out from `start` on may stop.

        A normaliser composes a mark with its base unless another mark of the same class stands
        between them; in a row of one class they all do as well as one.
        """
        if self._normalization.idle or start >= end:
            return end
        for at in range(end, start, -1):
            if not self._normalization.joins(text[at]):
                return at
        classes = set(map(combining, text[start - 1 : end + 1]))
        return end if len(classes) == 1 and 0 not in classes else start

    def _tail(self, longer: _Reading) -> Tail:
        """The tail of a list; of tokens that end inside a run it has no marks."""
        ends = longer.ends
        shape, moved = shorten(self._shapes.shape(longer.text[: ends[-1] if ends else 0]), ends)
        kept = [n for n, end in enumerate(moved) if end >= 0]
        places = dict(zip((0, *ends), (0, *moved), strict=True))
        return Tail(
            shape=shape,
            marks=tuple(moved[n] for n in kept),
            apart=tuple(longer.apart[n] for n in kept[:-1]),
            alone=tuple(longer.alone[n] for n in kept),
            replaced=frozenset((places[a], places[b]) for a, b in longer.replaced),
            apart_from_open=len(longer.apart) < len(ends) or not ends or longer.apart[-1],
            completing=self._completed_by(longer, shape, places),
        )

    def _find_replaced(self, state: State, tokens: Chain, end: int) -> Iterator[tuple[int, int]]:
        """Where the lists begin that end in the last token, at `end`, and are another token."""
        for count, _ in _found(self._replaced, tokens):
            start = _start(state, tokens, count)
            if count > 1 and start >= 0:
                yield start, end

    def _completed_by(
        self, longer: _Reading, shape: str, places: Mapping[int, int]
    ) -> frozenset[int]:
        """See Tail. Only what begins where the text may be split can be a part of its own."""
        found = self._completing_nothing
        for count, completing in _found(self._completing, longer.tokens):
            start = _start(longer, longer.tokens, count)
            place = places[start] if start >= 0 else -1
            if place == len(shape) or (place >= 0 and place in self._part_starts(shape)):
                found |= completing
        return found

    def _find_part_starts(self, shape: str) -> frozenset[int]:
        """Where a part may begin in a text of `shape`, one thing or another following it."""
        found = {0}
        for following in self._shapes.continuations:
            found.update(takewhile(len(shape).__gt__, self._splitter.ends(shape + following)))
        return frozenset(found)

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
        if state.tokens:
            row = self._vocabulary.row(state.tokens.token)
            answers |= (verdicts == Verdict.IF_APART) & row
        asked = np.flatnonzero(verdicts == Verdict.ASK)
        if len(asked):
            answers[asked] = self._oracle.admits(state.ids, asked)
        return answers

    def _decide_one(self, state: State, token: int) -> bool:
        tail = state.tail
        assert tail is not None  # else there is no table
        if state.unfinished:
            is_next = token in self._continuing and self._follows(state, token)
            verdict = self._verdict_inside(state, tail, token) if is_next else Verdict.NO
        else:
            sorting = self._sorting(tail)
            verdict = decide(self._splitter, tail, sorting.groups[sorting.of[token]])
        if token in tail.completing:
            verdict = Verdict.ASK
        if verdict is Verdict.IF_APART:
            return bool(state.tokens) and self._follows(state, token)
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
        row = self._vocabulary.row(state.tokens.token)
        for token in self._continuing:
            if row[token]:
                verdicts[token] = self._verdict_inside(state, tail, token)
        return verdicts

    def _verdict_inside(self, state: State, tail: Tail, token: int) -> Verdict:
        """The verdict on one of these, which stays apart from the last token."""
        data = state.unit + state.unfinished + self._spelled[token]
        group = self._grouping.group(data, token, near_apostrophe=tail.near_apostrophe)
        verdict = decide(self._splitter, tail, group)
        if verdict is Verdict.IF_APART:
            verdict = Verdict.YES if tail.apart_from_open else Verdict.NO
        if verdict is Verdict.YES and not self._keeps(state, token):
            return Verdict.NO
        return verdict

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


def _start(reading: State | _Reading, tokens: Chain, count: int) -> int:
    """Where the last `count` of `tokens` begin in a text; -1 if that is not kept."""
    number = tokens.number - count
    if count == len(tokens):
        return 0
    at = bisect_left(reading.numbers, number)
    is_kept = at < len(reading.numbers) and reading.numbers[at] == number
    return reading.ends[at] if is_kept else -1


class _Backwards(dict[int, "_Backwards[V]"], Generic[V]):
    """Lists of tokens, each with a value, found by their last tokens: one node of a trie."""

    value: V | None = None

    def add(self, tokens: Sequence[int], value: V) -> None:
        """Note the value of a list."""
        node = self
        for token in reversed(tokens):
            node = node.setdefault(token, _Backwards())
        node.value = value


def _found(node: _Backwards[V], tokens: Chain) -> Iterator[tuple[int, V]]:
    """The lists among those in a trie that `tokens` end in: their lengths and values."""
    if not node:
        return
    for count, token in enumerate(tokens.backwards(), start=1):
        if (below := node.get(token)) is None:
            return
        node = below
        if node.value is not None:
            yield count, node.value


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
