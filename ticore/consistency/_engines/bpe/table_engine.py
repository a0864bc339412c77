"""What both BPE engines share: a table's answers, and the answers that need the text itself.

A table's answers depend on little: the last token and the shape of what stands before it. Three
kinds of tokens need the characters of the text, and no table can know them:

1. A normalizer may compose the token's first characters with those before them: "o" and then a
   token that begins with U+0301 would be read as "ó".
2. The token may complete the text of an added token: "<|end" and then "|>".
3. The token may itself be an added token. Before it the text is read as if it ended there.

Cases 1 and 2 are refused, case 3 is decided here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from ...._support.caches import BoundedCache
from ...._support.packed_bits import (
    Words,
    bits_by_word,
    clear_bits,
    pack,
    set_bits,
    unpack,
    word_count,
)
from ...._support.utf8 import is_complete, unfinished_suffix
from ....interfaces import TokenizerStructure
from ..._arrays import Bools, Ids
from ..._tokenizer_rules.added_tokens import AddedTokens
from ..._tokenizer_rules.normalizers import Normalization
from ..base import Recovery
from ..retokenizing import Oracle
from .answer_rows import AnswerRows, TableAnswers
from .merge_rules import Ints
from .merging_intervals import MergingIntervals, merging_intervals
from .token_pairs import ChangedWords, TokenPairs

_BYTES_FOR_TABLES = 16 << 20
_CACHED_CONTEXTS = 1 << 12
_NO_IDS = np.array([], dtype=np.int64)


class TableState(Protocol):
    """What the shared part needs to know of a list of tokens.

    Attributes:
        ids: the tokens since a place where the text can be cut into two that are independent.
        text: the end of the text, without an unfinished character.
        unfinished: the bytes of that character.
    """

    @property
    def ids(self) -> Sequence[int]: ...
    @property
    def text(self) -> str: ...
    @property
    def unfinished(self) -> bytes: ...


S = TypeVar("S", bound=TableState)


class TableEngine(ABC, Generic[S]):
    """An Engine that answers from tables where it can, and asks the tokenizer elsewhere.

    Args:
        structure: how the tokenizer works.
        spelled: the bytes of every id.
        pairs: the pair test.
        oracle: asks the tokenizer, for the few tokens that no table decides about.
    """

    def __init__(
        self,
        structure: TokenizerStructure,
        spelled: Sequence[bytes],
        pairs: TokenPairs,
        oracle: Oracle,
    ) -> None:
        self._spelled = spelled
        self._pairs = pairs
        self._oracle = oracle
        self._normalization = Normalization(structure)
        self._added = AddedTokens(structure.added_tokens, spelled)
        self._ordinary_added = sorted(self._added.ids - oracle.tokenizer.special_ids)
        self._added_ids = np.array(self._ordinary_added, dtype=np.int64)
        self._added_bits = bits_by_word(self._added_ids)
        self._is_ordinary_added = np.zeros(len(spelled), dtype=bool)
        self._is_ordinary_added[self._ordinary_added] = True
        self._by_joining_head = self._find_by_joining_head(structure)
        # By the end of a text, the ids that the normalizer composes with it.
        self._composed: BoundedCache[str, Ids] = BoundedCache(_CACHED_CONTEXTS)
        # One or two bits per token.
        self._rows: BoundedCache[Hashable, AnswerRows] = BoundedCache(
            max(64, _BYTES_FOR_TABLES * 4 // max(1, len(spelled)))
        )

    @property
    def added_tokens(self) -> AddedTokens:
        """Finds the tokens that complete added tokens."""
        return self._added

    @abstractmethod
    def start(self) -> S: ...

    @abstractmethod
    def step(self, state: S, token: int) -> S: ...

    @abstractmethod
    def state_of(self, ids: Sequence[int]) -> S: ...

    @abstractmethod
    def step_if_refused(self, state: S, token: int) -> S | Recovery: ...

    @abstractmethod
    def tokens_since_cut(self, state: S) -> int | None: ...

    @abstractmethod
    def is_consistent(self, state: S) -> bool: ...

    @abstractmethod
    def table_key(self, state: S) -> Hashable:
        """What the table's answers depend on; None where there is no table."""

    @abstractmethod
    def decide_all(self, state: S) -> Bools:
        """The table's answers, the same for all states of one key: bool[vocab_size]."""

    @abstractmethod
    def decide_one(self, state: S, token: int) -> bool:
        """`decide_all(state)[token]`, without making the table. There must be a key."""

    @abstractmethod
    def table_answers(self, state: S) -> TableAnswers | None:
        """`decide_all(state)`, made of rows that lists share; None where there is no table."""

    @abstractmethod
    def last_to_merge(self, state: S) -> int:
        """The last token, whose row `table_answers` reads; -1 where it reads none."""

    @abstractmethod
    def is_cached(self, state: S) -> bool:
        """Whether the table for this state is at hand."""

    @abstractmethod
    def answer_at_hand(self, state: S, token: int) -> bool | None:
        """`decide_all(state)[token]` from the rows at hand; None if that takes more work."""

    def mask(self, state: S) -> Bools:
        words = np.empty(word_count(len(self._spelled)), dtype=np.uint32)
        self.packed_mask(state, words)
        return unpack(words, len(self._spelled))

    def packed_mask(self, state: S, out: Words) -> None:
        last = self.last_to_merge(state)
        self._write_mask(state, None if last < 0 else self._pairs.unmerged_words_after(last), out)

    def packed_masks(self, states: Sequence[S], out: Sequence[Words]) -> None:
        """See `BatchEngine`. The rows of all new last tokens are made together."""
        lasts = list(map(self.last_to_merge, states))
        rows = self._pairs.unmerged_words_after_each(last for last in lasts if last >= 0)
        self._look_at_contexts(states)
        for state, last, words in zip(states, lasts, out, strict=True):
            self._write_mask(state, rows.get(last), words)

    def _write_mask(self, state: S, unmerged: Words | ChangedWords | None, out: Words) -> None:
        """Write `packed_mask`, given the row of `last_to_merge`."""
        answers = self.table_answers(state)
        if answers is None:
            out[:] = pack(self._oracle.admits(state.ids, range(len(self._spelled))))
            return
        answers.write(unmerged, out)
        if self._ordinary_added:
            self._write_added(state, out)
        for forbidden in self._forbidden_by_text(state):
            clear_bits(out, forbidden)

    def _write_added(self, state: S, out: Words) -> None:
        """Write the answers about added tokens over those of the table."""
        at, bits = self._added_bits
        answers = self._added_answers(state, self._ordinary_added)
        if isinstance(answers, bool):
            out[at] = out[at] | bits if answers else out[at] & ~bits
        else:
            clear_bits(out, self._added_ids[~answers])
            set_bits(out, self._added_ids[answers])

    def answers_between_characters(self, state: S) -> tuple[TableAnswers, dict[int, bool]] | None:
        """What `packed_mask` is made of: a table's answers, and other answers about some ids.

        None where there is no table; and inside a character, where few tokens may follow.
        """
        answers = None if state.unfinished else self.table_answers(state)
        if answers is None:
            return None
        changes = dict[int, bool]()
        if self._ordinary_added:
            added = self._added_answers(state, self._ordinary_added)
            each = np.broadcast_to(added, len(self._ordinary_added)).tolist()
            changes |= dict(zip(self._ordinary_added, each, strict=True))
        for forbidden in self._forbidden_by_text(state):
            changes |= dict.fromkeys(forbidden.tolist(), False)
        return answers, changes

    def pair_arrays(self) -> tuple[int, Ints, MergingIntervals]:
        """The size of the vocabulary; the places of its ids; the intervals that merge with each."""
        places = self._pairs.table.preorder.astype(np.int32)
        return len(self._spelled), places, merging_intervals(self._pairs.table)

    def admits(self, state: S, candidates: Ids) -> Bools:
        found = self.table_answers(state)
        if found is None:
            return self._oracle.admits(state.ids, candidates)
        answers = found.take(self._pairs, candidates)
        if self._ordinary_added and (is_added := self._is_ordinary_added[candidates]).any():
            answers[is_added] = self._added_answers(state, candidates[is_added])
        for forbidden in self._forbidden_by_text(state):
            answers &= ~np.isin(candidates, forbidden)
        return answers

    def step_if_admitted(self, state: S, token: int) -> S | None:
        return self.step(state, token) if self._admits_one(state, token) else None

    def _admits_one(self, state: S, token: int) -> bool:
        if self.table_key(state) is None:
            return bool(self._oracle.admits(state.ids, [token])[0])
        if self._is_ordinary_added[token]:
            if self._added.is_completed(state.text, self._spelled[token]):
                return False
            return bool(np.all(self._added_answers(state, [token])))
        if self._is_forbidden(state, token):
            return False
        answer = self.answer_at_hand(state, token)
        return self.decide_one(state, token) if answer is None else answer

    def never_recovers(self, state: S, token: int) -> bool:
        """Whether `token` leaves a character in pieces: no text has such bytes."""
        data = state.unfinished + self._spelled[token]
        return not is_complete(data[: len(data) - len(unfinished_suffix(data))])

    def end_of_text(self, state: S) -> str:
        """The last whole characters since the last added token.

        There are as many as an added token can have begun with.
        """
        return state.text

    def _has_begun(self, state: S) -> bool:
        """Whether the text is more than a dummy prefix; if not, the tokenizer is asked."""
        return bool(state.text.strip(" "))

    def _context(self, state: S) -> str:
        """What a normalizer may compose with the next characters, after a whole character."""
        return self._normalization.context(state.text)

    def _ends_in_beginning(self, state: S) -> bool:
        """Whether the text ends with the beginning of an added token."""
        return self._added.ends_in_beginning(state.text)

    def _forbidden_by_text(self, state: S) -> list[Ids]:
        """The ids of cases 1 and 2: refused for the characters that stand before them."""
        found = list[Ids]()
        if not state.text:
            return found
        if self._by_joining_head and not state.unfinished:
            context = self._context(state)
            ids = self._composed.peek(context)
            if ids is None:
                ids = self._composed.get(context, lambda: self._find_composed(context))
            if len(ids):
                found.append(ids)
        if self._ends_in_beginning(state):
            found.append(self._added.completing(state.text, state.unfinished))
        return found

    def _is_forbidden(self, state: S, token: int) -> bool:
        """Whether `token` is one of `_forbidden_by_text`."""
        if not state.text:
            return False
        data = self._spelled[token]
        head = "" if state.unfinished else self._normalization.head(data)
        if head and not self._normalization.keeps(self._context(state) + head):
            return True
        return self._added.is_completed(state.text, state.unfinished + data)

    def _look_at_contexts(self, states: Sequence[S]) -> None:
        """Ask the normalizer once about the ends of many texts; with most none composes."""
        if not self._by_joining_head:
            return
        ends = {self._context(state) for state in states if state.text and not state.unfinished}
        new = [context for context in ends if context not in self._composed]
        if len(new) > 1 and self._normalization.keeps_together(
            context + head for context in new for head in self._by_joining_head
        ):
            for context in new:
                self._composed.get(context, lambda: _NO_IDS)

    def _find_composed(self, context: str) -> Ids:
        """The pieces that the normalizer would compose with the end of a text."""
        if self._normalization.keeps_together(context + head for head in self._by_joining_head):
            return _NO_IDS  # as for most characters
        found = [
            tokens
            for head, tokens in self._by_joining_head.items()
            if not self._normalization.keeps(context + head)
        ]
        return np.concatenate([_NO_IDS, *found])

    def _added_answers(self, state: S, tokens: Sequence[int] | Ids) -> Bools | bool:
        """Case 3: whether each of some added tokens may follow, unless case 2 forbids it.

        Yes where the text may end. The tokenizer is asked if the text is a dummy prefix so far.
        That alone is no text, but may stand before the token.

        Args:
            state: of the list.
            tokens: added tokens that are not special.

        Returns:
            bool[n], or one answer for all.
        """
        if self._has_begun(state):
            return self.is_consistent(state)
        return self._oracle.admits(state.ids, tokens)

    def _find_by_joining_head(self, structure: TokenizerStructure) -> dict[str, Ids]:
        """The pieces that begin with joining characters, by these characters."""
        pieces = np.flatnonzero(structure.pieces).data  # as ints, made only if looked at
        by_head = self._normalization.by_head(self._spelled, pieces)
        return {head: np.array(tokens) for head, tokens in by_head.items()}
