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
from functools import partial, reduce

import numpy as np

from ...._support.caches import BoundedCache, TextTable, cached_method
from ...._support.packed_bits import has_bit
from ...._support.utf8 import is_continuation_byte, unfinished_suffix
from ....interfaces import TokenizerStructure
from ..._arrays import Bools
from ..._tokenizer_rules.pretokenizers import splitter_for
from ..base import Recovery
from ..retokenizing import Oracle
from .answer_rows import AnswerRows, TableAnswers, answer_of, answer_rows, with_tokens
from .asked_tokens import AskedTokens
from .boundary_effects import FollowVerdict, decide
from .character_classes import shapes_for
from .inside_characters import InsideCharacters
from .known_steps import REFUSED, KnownSteps
from .pretokenized_state import PretokenizedState, UnsettledList
from .replaced_parts import ReplacedParts
from .state_builder import StateBuilder
from .table_engine import TableEngine
from .tail_answers import AnswersAfterTails, TailAnswers, are
from .token_groups import GroupedVocabulary, TokenGrouper
from .token_pairs import TokenPairs

_CACHED_BEGINNINGS, _CACHED_TAILS = 1 << 14, 4096


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
        self._after_tails = AnswersAfterTails(
            self._splitter,
            self._shapes,
            spelled,
            pairs,
            groups,
            groups_near_apostrophe,
            normalization=self._normalization,
            rows=self._rows,
        )
        self._asked = AskedTokens(self._after_tails, pairs, self._normalization, oracle)
        self._inside = InsideCharacters(
            self._splitter,
            self._shapes,
            spelled,
            pairs,
            grouper,
            self._may_occur,
            normalization=self._normalization,
            added=self._added,
        )
        # Which of `TailAnswers.by_text` may follow, by the key of a table and `joined_context`.
        self._questions: BoundedCache[Hashable, tuple[int, ...]] = BoundedCache(_CACHED_TAILS)
        self._first_shape = TextTable(self._find_first_shape)
        self._known_steps = KnownSteps(
            spelled=spelled,
            pairs=pairs,
            groups=groups,
            grouper=grouper,
            replaced_parts=self._replaced_parts,
            added=self._added.ids,
            may_occur=self._may_occur,
            shapes=self._shapes,
            forms=self._builder.forms,
            longest_text=self._builder.longest_text,
            step=self._builder.step,
            verdict=partial(decide, self._splitter),
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
        return state.tail is not None and self._after_tails.knows_shape(state.tail)

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
            verdicts = self._inside.verdicts(state, tail)
        else:
            verdicts = self._after_tails.verdicts_after(tail)
        verdicts[list(tail.completing)] = FollowVerdict.ASK_TOKENIZER
        answers = are(verdicts, FollowVerdict.YES)
        if state.tokens:
            unmerged = self._pairs.unmerged_after(state.tokens.token)
            answers |= are(verdicts, FollowVerdict.IF_UNMERGED) & unmerged
        asked = np.flatnonzero(are(verdicts, FollowVerdict.ASK_TOKENIZER))
        if len(asked):
            answers[asked] = self._oracle.admits(state.ids, asked)
        return answers

    def decide_one(self, state: PretokenizedState, token: int) -> bool:
        tail = state.tail
        assert tail is not None  # else there is no table
        if state.unfinished:
            begins_inside = b"\x80" <= self._spelled[token][:1] < b"\xc0"
            is_next = begins_inside and self._does_not_merge(state, token)
            verdict = self._inside.verdict(state, tail, token) if is_next else FollowVerdict.NO
        else:
            vocabulary = self._after_tails.vocabulary_after(tail)
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
        found: TailAnswers | None = None if form is None else form.answers
        if found is None:
            found = self._after_tails.after(tail)
            if form is not None:
                form.answers = found
        last = state.tokens.token if state.tokens else -1
        if not len(found.by_class) and not found.by_text:
            return TableAnswers(found.rows, last)
        return self._with_asked(state, found, last)

    def last_to_merge(self, state: PretokenizedState) -> int:
        if state.tail is None or state.unfinished or not state.tokens:
            return -1
        return state.tokens.token

    def is_cached(self, state: PretokenizedState) -> bool:
        if state.unfinished or state.tail is None:
            return self.table_key(state) in self._rows
        found = self._after_tails.at_hand(state.tail)
        return found is not None and (
            found.rows.if_unmerged is None
            or not state.tokens
            or self._pairs.is_cached(state.tokens.token)
        )

    def answer_at_hand(self, state: PretokenizedState, token: int) -> bool | None:
        if state.tail is None or state.unfinished:
            rows = self._rows.peek(self.table_key(state))
            return None if rows is None else has_bit(rows.yes, token)
        found = self._after_tails.at_hand(state.tail)
        if found is None or found.asks_about(token):
            return None
        last = state.tokens.token if state.tokens else -1
        return answer_of(found.rows, self._pairs, last, token)

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

    def _with_asked(self, state: PretokenizedState, found: TailAnswers, last: int) -> TableAnswers:
        """The answers of the rows, and those that the tokenizer gives."""
        if self._ends_in_beginning(state):  # the text decides whether one is completed
            also = self._asked.ask(state.ids, (*found.by_class.tolist(), *found.by_text))
            return TableAnswers(found.rows, last, also)
        rows, also = found.rows, ()
        if len(found.by_class):
            unmerged = self._asked.unmerged(last)
            rows = found.answers.peek(unmerged) or found.answers.get(
                unmerged, lambda: self._rows_with_answers(state, found)
            )
        if found.by_text:
            # The last token need not be a whole character, and so does not tell what joins it.
            key = self.table_key(state), self._asked.joined_context(state.text)
            also = self._questions.get(key, lambda: self._asked.ask(state.ids, found.by_text))
        return TableAnswers(rows, last, also)

    def _rows_with_answers(self, state: PretokenizedState, found: TailAnswers) -> AnswerRows:
        """The rows with those of `by_class` that may follow."""
        more = self._asked.ask(state.ids, found.by_class.tolist())
        return found.by_answer.get(more, lambda: with_tokens(found.rows, more))
