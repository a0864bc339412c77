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
from collections.abc import Hashable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ...._support.caches import BoundedCache, cached_method
from ...._support.utf8 import is_complete, unfinished_suffix
from ....interfaces import TokenizerStructure
from ..._tokenizer_rules.added_tokens import AddedTokens
from ..._tokenizer_rules.normalizers import Normalization
from ..base import Bools, Ids, Recovery
from ..retokenizing import Oracle

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
        oracle: asks the tokenizer, for the few tokens that no table decides about.
    """

    def __init__(
        self, structure: TokenizerStructure, spelled: Sequence[bytes], oracle: Oracle
    ) -> None:
        self._spelled = spelled
        self._oracle = oracle
        self._normalization = Normalization(structure)
        self._added = AddedTokens(structure.added_tokens, spelled)
        self._ordinary_added = sorted(self._added.ids - oracle.tokenizer.special_ids)
        self._is_ordinary_added = np.zeros(len(spelled), dtype=bool)
        self._is_ordinary_added[self._ordinary_added] = True
        self._by_joining_head = self._find_by_joining_head(structure)
        # One bit per token.
        self._tables: BoundedCache[Hashable, bytes] = BoundedCache(
            max(64, _BYTES_FOR_TABLES * 8 // max(1, len(spelled)))
        )

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

    def is_cached(self, state: S) -> bool:
        """Whether the table for this state is at hand."""
        return self.table_key(state) in self._tables

    def mask(self, state: S) -> Bools:
        key = self.table_key(state)
        if key is None:
            return self._oracle.admits(state.ids, range(len(self._spelled)))
        packed = self._packed_table(key, state)
        answers = np.unpackbits(packed, count=len(self._spelled), bitorder="little").view(bool)
        if self._ordinary_added:
            answers[self._ordinary_added] = self._added_answers(state, self._ordinary_added)
        for forbidden in self._forbidden_by_text(state):
            answers[forbidden] = False
        return answers

    def admits(self, state: S, candidates: Ids) -> Bools:
        key = self.table_key(state)
        if key is None:
            return self._oracle.admits(state.ids, candidates)
        packed = self._packed_table(key, state)
        answers: Bools = (packed[candidates >> 3] >> (candidates & 7) & 1).astype(bool)
        if self._ordinary_added and (is_added := self._is_ordinary_added[candidates]).any():
            answers[is_added] = self._added_answers(state, candidates[is_added])
        for forbidden in self._forbidden_by_text(state):
            answers &= ~np.isin(candidates, forbidden)
        return answers

    def step_if_admitted(self, state: S, token: int) -> S | None:
        return self.step(state, token) if self._admits_one(state, token) else None

    def _admits_one(self, state: S, token: int) -> bool:
        key = self.table_key(state)
        if key is None:
            return bool(self._oracle.admits(state.ids, [token])[0])
        if self._is_ordinary_added[token]:
            if self._added.is_completed(state.text, self._spelled[token]):
                return False
            return bool(np.all(self._added_answers(state, [token])))
        if self._is_forbidden(state, token):
            return False
        if (packed := self._tables.peek(key)) is not None:
            return bool(packed[token >> 3] >> (token & 7) & 1)
        return self.decide_one(state, token)

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

    def _packed_table(self, key: Hashable, state: S) -> npt.NDArray[np.uint8]:
        packed = self._tables.get(
            key, lambda: np.packbits(self.decide_all(state), bitorder="little").tobytes()
        )
        return np.frombuffer(packed, dtype=np.uint8)

    def _forbidden_by_text(self, state: S) -> Iterator[Ids]:
        """The ids of cases 1 and 2: refused for the characters that stand before them."""
        if state.unfinished or not state.text:
            return
        if self._by_joining_head and len(found := self._composed_after(self._context(state))):
            yield found
        if self._added.has_begun(state.text):
            yield self._added.completing(state.text)

    def _is_forbidden(self, state: S, token: int) -> bool:
        """Whether `token` is one of `_forbidden_by_text`."""
        if state.unfinished or not state.text:
            return False
        data = self._spelled[token]
        head = self._normalization.head(data)
        if head and not self._normalization.keeps(self._context(state) + head):
            return True
        return self._added.is_completed(state.text, data)

    @cached_method(_CACHED_CONTEXTS)
    def _composed_after(self, context: str) -> Ids:
        """The pieces that the normalizer would compose with the end of a text."""
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
        by_head: dict[str, list[int]] = {}
        if not self._normalization.idle:
            for token in np.flatnonzero(structure.pieces).tolist():
                if head := self._normalization.head(self._spelled[token]):
                    by_head.setdefault(head, []).append(token)
        return {head: np.array(tokens) for head, tokens in by_head.items()}
