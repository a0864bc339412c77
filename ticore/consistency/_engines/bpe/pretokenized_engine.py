"""Verification of byte-level BPE with a pretokenizer, from tables.

A token may follow a list of tokens iff

1. the text with it is split such that every part ends where a token does (`boundary_effects`);
2. inside each part no two neighbours merge (`pair_test`), and no part is replaced as a whole
   (`replaced_parts`);
3. the normalizer leaves the text alone and no added token is spelled (`table_engine`).

Lists of tokens become states in `state_builder`. Here states are asked what may follow.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property, partial, reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...._support.caches import BoundedCache, TextTable, cached_method
from ...._support.packed_bits import has_bit
from ...._support.utf8 import is_continuation_byte, unfinished_suffix
from ....interfaces import TokenizerStructure
from ..._arrays import Bools, Ids
from ..._tokenizer_rules.normalizers import joining
from ..._tokenizer_rules.pretokenizers import splitter_for
from ..base import Recovery
from ..retokenizing import Oracle
from .answer_rows import AnswerRows, TableAnswers, answer_of, answer_rows, with_tokens
from .boundary_effects import FollowVerdict, GroupIndex, Tail, TailVerdicts, decide
from .character_classes import shapes_for
from .known_steps import REFUSED, KnownSteps
from .pretokenized_state import PretokenizedState, UnsettledList
from .replaced_parts import ReplacedParts
from .state_builder import StateBuilder
from .table_engine import TableEngine
from .token_groups import GroupedVocabulary, TokenGrouper
from .token_pairs import TokenPairs

_CACHED_BEGINNINGS, _CACHED_SHAPES, _CACHED_TAILS = 1 << 14, 4096, 4096
_CACHED_QUESTIONS, _CACHED_ANSWERS = 64, 4  # of one kind of tail; each answer has two rows


class _End(NamedTuple):
    """What is known of all lists whose tails are of one kind, between characters.

    Attributes:
        rows: the answers, all but those that the tokenizer gives.
        by_class: ids that the tokenizer is asked about, int64[n], for a character on whose class
            libraries disagree. Its answers are the same after all lists with such tails whose last
            tokens merge with the same of these ids.
        by_text: other ids that it is asked about, in order.
        answers: the rows with those of `by_class` that may follow, by those that do not merge with
            the last token.
        by_answer: the same rows by these ids, of which there are few kinds.
    """

    rows: AnswerRows
    by_class: Ids
    by_text: tuple[int, ...]
    answers: BoundedCache[bytes, AnswerRows]
    by_answer: BoundedCache[tuple[int, ...], AnswerRows]

    def asks_about(self, token: int) -> bool:
        """Whether the tokenizer is asked about `token`."""
        return token in self.by_text or token in self.by_class


class PretokenizedEngine(TableEngine[PretokenizedState]):
    """Decides by the shapes of tokens and, inside a part of the text, by the pair test.

    Args:
        structure: bytes as atoms, and a pretokenizer.
        spelled: the bytes of every id.
        pairs: the pair test.
        grouper: what sorted the vocabulary.
        groups: the sorted vocabulary.
        groups_near_apostrophe: the same for tokens right after an apostrophe, or another sign that
            begins a contraction.
        oracle: for the few tokens that no table decides about.
    """

    def __init__(
        self,
        structure: TokenizerStructure,
        spelled: Sequence[bytes],
        pairs: TokenPairs,
        grouper: TokenGrouper,
        groups: GroupedVocabulary,
        groups_near_apostrophe: GroupedVocabulary,
        oracle: Oracle,
    ) -> None:
        super().__init__(structure, spelled, pairs, oracle)
        self._grouper = grouper
        self._groups, self._groups_near_apostrophe = groups, groups_near_apostrophe
        self._splitter = splitter_for(structure.pretokenizer)
        self._shapes = shapes_for(structure.pretokenizer)
        self._replaced_parts = ReplacedParts(pairs, oracle.mode)
        self._builder = StateBuilder(
            structure.pretokenizer,
            spelled,
            pairs,
            self._replaced_parts,
            self._normalization,
            self._added,
        )
        self._may_occur = structure.pieces & (pairs.reachable | pairs.whole_part_only)
        self._tail_verdicts: BoundedCache[str, TailVerdicts] = BoundedCache(_CACHED_SHAPES)
        self._ends: BoundedCache[Tail, _End] = BoundedCache(_CACHED_TAILS)
        self._ends_by_kind: BoundedCache[Hashable, _End] = BoundedCache(_CACHED_TAILS)
        # Which of `_End.by_text` may follow, by the key of a table and `_joined_context`.
        self._questions: BoundedCache[Hashable, tuple[int, ...]] = BoundedCache(_CACHED_TAILS)
        self._first_shape = TextTable(self._find_first_shape)
        self._known_steps = KnownSteps(
            spelled,
            pairs,
            groups,
            grouper,
            self._replaced_parts,
            self._added.ids,
            self._may_occur,
            self._shapes,
            self._builder.forms,
            self._builder.longest_text,
            self._builder.step,
            partial(decide, self._splitter),
        )

    def start(self) -> PretokenizedState:
        return self._builder.start

    def step_if_admitted(self, state: PretokenizedState, token: int) -> PretokenizedState | None:
        if (closed_by := state.closed_by) is not None and closed_by[self._first_shape[token]]:
            return self._begin(token)
        longer = self._known_steps.step(state, token)
        if longer is None:
            return super().step_if_admitted(state, token)
        return None if longer is REFUSED else longer

    @cached_method(_CACHED_BEGINNINGS)
    def _begin(self, token: int) -> PretokenizedState | None:
        """The state after a token that begins a part, as most do: as if the text began with it."""
        return self.step_if_admitted(self.start(), token)

    def step(self, state: PretokenizedState, token: int) -> PretokenizedState:
        return self._builder.step(state, token)

    def state_of(self, ids: Sequence[int]) -> PretokenizedState:
        first = len(ids)
        while first and not self._begins_anew(ids, first):
            first -= 1
        return reduce(self.step, ids[first:], self.start())

    def _begins_anew(self, ids: Sequence[int], at: int) -> bool:
        """Whether the state of `ids[:at]` is that of the empty list; False where that is not clear.

        It is after an added token, and between two characters that never share a part.
        """
        if ids[at - 1] in self._added.ids:
            return True
        if not self._splitter.looks_one_ahead or at == len(ids):
            return False
        if is_continuation_byte(self._spelled[ids[at]][0]):
            return False
        try:
            before = self._spelled[ids[at - 1]].decode()
        except UnicodeDecodeError:
            return False
        if before[-1].isspace() or self._first_shape[ids[at]] not in (
            self._shapes.never_joined_after(self._shapes.shape(before[-1]))
        ):
            return False
        # As many bytes as the characters of a beginning have at most, in ids of one byte or more.
        most = 4 * self._added.longest_beginning
        data = b"".join(self._spelled[i] for i in ids[max(0, at - most) : at])
        return not self._added.ends_in_beginning(data.decode(errors="replace"))

    def step_if_refused(self, state: PretokenizedState, token: int) -> PretokenizedState | Recovery:
        """See Engine. A state remembers the wrong pairs in its tail; others are looked at here."""
        aside = self._known_steps.step_aside(state, token)
        return self._step_aside_in_full(state, token) if aside is None else aside

    def _step_aside_in_full(
        self, state: PretokenizedState, token: int
    ) -> PretokenizedState | Recovery:
        """`step_if_refused`, whether such a step was made before or not."""
        if state.tail is None or token in self._added.ids:
            return Recovery.NEVER if state.broken else Recovery.UNKNOWN
        longer = self._builder.append(state, token)
        if not isinstance(longer, UnsettledList):
            return Recovery.NEVER if longer.broken else Recovery.UNKNOWN
        # No text is ever split inside a character.
        in_character = bool(state.unfinished)
        if not self._may_occur[token] or (in_character and not self._does_not_merge(state, token)):
            return Recovery.NEVER
        more = longer.text[len(state.text) :]
        if (
            self._is_forbidden(state, token)
            or self._added.occurs_in(state.text[-self._added.longest_beginning :] + more)
            or not self._normalization.keeps(self._normalization.context(state.text) + more)
        ):
            return Recovery.UNKNOWN
        settled = self._builder.settle(longer)
        if (
            settled.broken
            or settled.tail is None
            or not self._builder.all_unmerged(longer, settled)
        ):
            return Recovery.NEVER
        return settled

    def tokens_since_cut(self, state: PretokenizedState) -> int | None:
        return len(state.tokens)

    def is_consistent(self, state: PretokenizedState) -> bool:
        if state.tail is None:
            return not state.broken and self._oracle.is_consistent(state.ids)
        return not state.unfinished and self._builder.may_end(state.tail) is FollowVerdict.YES

    def never_recovers(self, state: PretokenizedState, token: int) -> bool:
        return state.broken or (state.tail is not None and super().never_recovers(state, token))

    def knows_shape(self, state: PretokenizedState) -> bool:
        """Whether the verdicts after tails of this state's shape are cached."""
        return state.tail is not None and state.tail.shape in self._tail_verdicts

    def table_key(self, state: PretokenizedState) -> Hashable:
        if state.tail is None:
            return None
        # Where a replaced part may be completed, the ids count: runs of one shape differ in length.
        ids = state.ids if state.tail.completing > self._replaced_parts.completing_alone else ()
        context, begun = "", tuple[str, ...]()
        if state.unfinished:
            context = self._normalization.context(state.text)
            begun = self._added.beginnings_at_end(state.text)
        last = state.tokens.token if state.tokens else None
        return state.tail, ids, last, state.open_bytes, state.unfinished, context, begun

    def decide_all(self, state: PretokenizedState) -> Bools:
        tail = state.tail
        assert tail is not None  # else there is no key
        if state.unfinished:
            verdicts = self._verdicts_inside(state, tail)
        else:
            verdicts = self._verdicts_after(tail)
        verdicts[list(tail.completing)] = FollowVerdict.ASK_TOKENIZER
        answers = _are(verdicts, FollowVerdict.YES)
        if state.tokens:
            unmerged = self._pairs.unmerged_after(state.tokens.token)
            answers |= _are(verdicts, FollowVerdict.IF_UNMERGED) & unmerged
        asked = np.flatnonzero(_are(verdicts, FollowVerdict.ASK_TOKENIZER))
        if len(asked):
            answers[asked] = self._oracle.admits(state.ids, asked)
        return answers

    def decide_one(self, state: PretokenizedState, token: int) -> bool:
        tail = state.tail
        assert tail is not None  # else there is no table
        if state.unfinished:
            begins_inside = b"\x80" <= self._spelled[token][:1] < b"\xc0"
            is_next = begins_inside and self._does_not_merge(state, token)
            verdict = self._verdict_inside(state, tail, token) if is_next else FollowVerdict.NO
        else:
            vocabulary = self._grouped_vocabulary(tail)
            verdict = decide(self._splitter, tail, vocabulary.groups[vocabulary.group_of[token]])
        if token in tail.completing:
            verdict = FollowVerdict.ASK_TOKENIZER
        if verdict is FollowVerdict.IF_UNMERGED:
            return bool(state.tokens) and self._does_not_merge(state, token)
        if verdict is FollowVerdict.ASK_TOKENIZER:
            return bool(self._oracle.admits(state.ids, [token])[0])
        return verdict is FollowVerdict.YES

    def end_of_text(self, state: PretokenizedState) -> str:
        if state.tail is not None:
            return state.text
        return b"".join(self._spelled[i] for i in state.ids).decode(errors="replace")

    def table_answers(self, state: PretokenizedState) -> TableAnswers | None:
        tail = state.tail
        if tail is None:
            return None
        if state.unfinished:
            key = self.table_key(state)
            return TableAnswers(self._rows.get(key, lambda: answer_rows(self.decide_all(state))))
        form = state.form
        end: _End | None = None if form is None else form.end
        if end is None:
            end = self._ends.get(tail, lambda: self._end(tail))
            if form is not None:
                form.end = end
        last = state.tokens.token if state.tokens else -1
        if not len(end.by_class) and not end.by_text:
            return TableAnswers(end.rows, last)
        return self._with_asked(state, end, last)

    def last_to_merge(self, state: PretokenizedState) -> int:
        if state.tail is None or state.unfinished or not state.tokens:
            return -1
        return state.tokens.token

    def is_cached(self, state: PretokenizedState) -> bool:
        if state.unfinished or state.tail is None:
            return self.table_key(state) in self._rows
        end = self._ends.peek(state.tail)
        return end is not None and (
            end.rows.if_unmerged is None
            or not state.tokens
            or self._pairs.is_cached(state.tokens.token)
        )

    def answer_at_hand(self, state: PretokenizedState, token: int) -> bool | None:
        if state.tail is None or state.unfinished:
            rows = self._rows.peek(self.table_key(state))
            return None if rows is None else has_bit(rows.yes, token)
        end = self._ends.peek(state.tail)
        if end is None or end.asks_about(token):
            return None
        last = state.tokens.token if state.tokens else -1
        return answer_of(end.rows, self._pairs, last, token)

    def _has_begun(self, state: PretokenizedState) -> bool:
        return True  # there is no dummy prefix: spaces are a text like others

    # In the text of a state with a form no character joins, and no added token begins at its end.

    def _ends_in_beginning(self, state: PretokenizedState) -> bool:
        return state.form is None and super()._ends_in_beginning(state)

    def _context(self, state: PretokenizedState) -> str:
        return super()._context(state) if state.form is None else state.text[-1:]

    def _does_not_merge(self, state: PretokenizedState, token: int) -> bool:
        """Whether `token` does not merge with the last token."""
        return self._pairs.do_not_merge(state.tokens.token, token)

    def _find_first_shape(self, token: int) -> str:
        """The shape of a token's first character; empty if that may compose with one before it."""
        data = self._spelled[token]
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = data[: len(data) - len(unfinished_suffix(data))].decode(errors="replace")
        if not text or self._normalization.joins(text[0]):
            return ""
        return self._shapes.shape(text[0])

    # Between characters.

    def _end(self, tail: Tail) -> _End:
        """What the rows, and the questions to the tokenizer, are after `tail`."""
        known = self._known_verdicts(tail)
        vocabulary = self._grouped_vocabulary(tail)
        kind = vocabulary is self._groups, tail.completing, known.kind(tail)
        return self._ends_by_kind.get(kind, lambda: self._new_end(tail, known.of(tail)))

    def _new_end(self, tail: Tail, verdicts: npt.NDArray[np.uint8]) -> _End:
        """`_end` for the first tail of a kind."""
        vocabulary = self._grouped_vocabulary(tail)
        key = vocabulary is self._groups, tail.completing, verdicts.tobytes()
        rows = self._rows.get(key, lambda: self._end_rows(vocabulary, verdicts, tail.completing))
        by_class, by_text = self._undecided if vocabulary is self._groups else self._undecided_near
        if tail.completing:
            by_class = by_class[~np.isin(by_class, list(tail.completing))]
            by_text = tuple(sorted(tail.completing.union(by_text)))
        answers: BoundedCache[bytes, AnswerRows] = BoundedCache(_CACHED_QUESTIONS)
        return _End(rows, by_class, by_text, answers, BoundedCache(_CACHED_ANSWERS))

    def _end_rows(
        self, vocabulary: GroupedVocabulary, verdicts: npt.NDArray[np.uint8], asked: frozenset[int]
    ) -> AnswerRows:
        """The rows of these verdicts on the groups, without the ids that are `asked` about."""
        by_id = verdicts.take(vocabulary.group_of)
        by_id[list(asked)] = FollowVerdict.NO
        if_unmerged = _are(by_id, FollowVerdict.IF_UNMERGED) & self._pairs.reachable
        return answer_rows(_are(by_id, FollowVerdict.YES), if_unmerged)

    def _with_asked(self, state: PretokenizedState, end: _End, last: int) -> TableAnswers:
        """The answers of the rows, and those that the tokenizer gives."""
        if self._ends_in_beginning(state):  # the text decides whether one is completed
            also = self._ask(state, (*end.by_class.tolist(), *end.by_text))
            return TableAnswers(end.rows, last, also)
        rows, also = end.rows, ()
        if len(end.by_class):
            unmerged = self._unmerged_of_asked(last)
            rows = end.answers.peek(unmerged) or end.answers.get(
                unmerged, lambda: self._rows_with_answers(state, end)
            )
        if end.by_text:
            # The last token need not be a whole character, and so does not tell what joins it.
            key = self.table_key(state), self._joined_context(state.text)
            also = self._questions.get(key, lambda: self._ask(state, end.by_text))
        return TableAnswers(rows, last, also)

    def _rows_with_answers(self, state: PretokenizedState, end: _End) -> AnswerRows:
        """The rows with those of `end.by_class` that may follow."""
        more = self._ask(state, end.by_class.tolist())
        return end.by_answer.get(more, lambda: with_tokens(end.rows, more))

    def _joined_context(self, text: str) -> str:
        """What the next characters may be changed together with; empty where nothing is."""
        if self._normalization.idle:
            return ""
        context = self._normalization.context(text)
        return context if self._may_change(context) else ""

    @cached_method(_CACHED_TAILS)
    def _may_change(self, context: str) -> bool:
        """Whether some character after `context` may be changed with it; after most, none is."""
        return any(map(self._normalization.joins, context)) or not (
            self._normalization.keeps_together(context + mark for mark in sorted(joining()))
        )

    def _unmerged_of_asked(self, last: int) -> bytes:
        """One bit for each id of any `_End.by_class`: whether `last` does not merge with it."""
        length, data = self._unmerged_before_asked
        return data[last * length : (last + 1) * length] if last >= 0 else b""

    @cached_property
    def _unmerged_before_asked(self) -> tuple[int, bytes]:
        """The bytes for each last token, and `_unmerged_of_asked` of all one after the other."""
        bits = np.packbits(self._pairs.table.unmerged_before(self._asked_by_class), axis=0)
        return len(bits), bits.T.tobytes()

    @cached_property
    def _asked_by_class(self) -> list[int]:
        """The ids of any `_End.by_class`."""
        found: list[int] = np.union1d(self._undecided[0], self._undecided_near[0]).tolist()
        return found

    def _ask(self, state: PretokenizedState, tokens: Sequence[int]) -> tuple[int, ...]:
        """Ask the tokenizer which of some ids may follow."""
        return tuple(np.array(tokens)[self._oracle.admits(state.ids, tokens)].tolist())

    @cached_property
    def _undecided(self) -> tuple[Ids, tuple[int, ...]]:
        return self._find_undecided(self._groups)

    @cached_property
    def _undecided_near(self) -> tuple[Ids, tuple[int, ...]]:
        return self._find_undecided(self._groups_near_apostrophe)

    def _find_undecided(self, vocabulary: GroupedVocabulary) -> tuple[Ids, tuple[int, ...]]:
        """The ids that no table decides about: `by_class` and `by_text`, see `_End`.

        What may follow a tail depends on the shapes of its characters, because the expression does
        not tell characters of one shape apart, whatever follows them. That holds for characters of
        any class. But what a token's first character composes with is not in the shape, nor which
        characters finish the token's last one.
        """
        undecided = np.array([group.undecided for group in vocabulary.groups])
        asked = np.flatnonzero(undecided.take(vocabulary.group_of))
        is_whole = np.array([self._is_whole(token) for token in asked.tolist()], dtype=bool)
        return asked[is_whole], tuple(asked[~is_whole].tolist())

    def _is_whole(self, token: int) -> bool:
        """Whether a token is whole characters, and composes with none before them."""
        data = self._spelled[token]
        return not unfinished_suffix(data) and not self._normalization.head(data)

    def _verdicts_after(self, tail: Tail) -> npt.NDArray[np.uint8]:
        """The verdict on every id: uint8[vocab_size]."""
        vocabulary = self._grouped_vocabulary(tail)
        return self._known_verdicts(tail).of(tail).take(vocabulary.group_of)

    def _known_verdicts(self, tail: Tail) -> TailVerdicts:
        """The verdicts on all groups after tails of this shape."""
        return self._tail_verdicts.get(
            tail.shape, lambda: TailVerdicts(tail.shape, self._group_index(tail))
        )

    def _group_index(self, tail: Tail) -> GroupIndex:
        return self._index_of(self._shapes.is_near_apostrophe(tail.shape))

    @cached_method(2)
    def _index_of(self, near_apostrophe: bool) -> GroupIndex:
        vocabulary = self._groups_near_apostrophe if near_apostrophe else self._groups
        return GroupIndex(self._splitter, vocabulary.groups)

    def _grouped_vocabulary(self, tail: Tail) -> GroupedVocabulary:
        near = self._shapes.is_near_apostrophe(tail.shape)
        return self._groups_near_apostrophe if near else self._groups

    # Inside a character.

    @cached_property
    def _continuing(self) -> list[int]:
        """The reachable tokens that begin inside a character, in order."""
        # Rules may also make a special token, which has no bytes.
        reachable = np.flatnonzero(self._pairs.reachable & self._may_occur).tolist()
        return [i for i in reachable if 0x80 <= self._spelled[i][0] < 0xC0]

    def _verdicts_inside(self, state: PretokenizedState, tail: Tail) -> npt.NDArray[np.uint8]:
        """The verdict on every id after a token that ends inside a character: uint8[vocab_size]."""
        verdicts = np.zeros(len(self._spelled), dtype=np.uint8)
        unmerged = self._pairs.unmerged_after(state.tokens.token)
        for token in self._continuing:
            if unmerged[token]:
                verdicts[token] = self._verdict_inside(state, tail, token)
        return verdicts

    def _verdict_inside(self, state: PretokenizedState, tail: Tail, token: int) -> FollowVerdict:
        """The verdict on a token that begins inside the character and does not merge there."""
        data = state.open_bytes + state.unfinished + self._spelled[token]
        near = self._shapes.is_near_apostrophe(tail.shape)
        group = self._grouper.group(data, token, near_apostrophe=near)
        verdict = decide(self._splitter, tail, group)
        if verdict is FollowVerdict.IF_UNMERGED:
            verdict = FollowVerdict.YES if tail.unmerged_with_open else FollowVerdict.NO
        if verdict is FollowVerdict.YES and not self._stays_as_it_is(state, token):
            return FollowVerdict.NO
        return verdict

    def _stays_as_it_is(self, state: PretokenizedState, token: int) -> bool:
        """Whether the finished character stays as it is after the text before it.

        The normalizer must leave it alone, and no added token may begin with it.
        """
        data = state.unfinished + self._spelled[token]
        text = data[: len(data) - len(unfinished_suffix(data))].decode()
        keeps = self._normalization.keeps(self._context(state) + text)
        return keeps and not self._added.occurs_in(text)


def _are(verdicts: npt.NDArray[np.uint8], verdict: FollowVerdict) -> Bools:
    """Which verdicts are `verdict`. As an enum it would be compared as int64, which is slow."""
    found: Bools = verdicts == int(verdict)
    return found
