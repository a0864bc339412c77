"""What both engines for BPE share: answers from a table, then what the very characters change.

A table's answer depends on little: the last token and the shape of what stands before it. Two
things do not fit into one. A normaliser may compose a candidate's first characters with those
before them, and a candidate may complete the text of an added token.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ...interfaces import TokenizerStructure
from ..added import AddedTokens
from ..engine import Bools, Hope, Ids
from ..modes import is_text, pending
from ..normalization import Normalization
from ..oracle import Oracle
from ..recent import Recent

_BYTES_FOR_MASKS = 16 << 20
_CONTEXTS = 1 << 12  # ends of texts that are remembered
_NONE = np.array([], dtype=np.int64)


class TableState(Protocol):
    """What the shared part needs to know of a list of tokens.

    Attributes:
        ids: the tokens since some place where the text can be cut in two that do not meet again.
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
    """An Engine whose answers come from tables where they can, and from the oracle where not.

    Args:
        structure: how the tokenizer works.
        spelled: the bytes of every id.
        oracle: for the few tokens that no table decides about.
    """

    def __init__(
        self, structure: TokenizerStructure, spelled: Sequence[bytes], oracle: Oracle
    ) -> None:
        self._spelled = spelled
        self._oracle = oracle
        self._normalization = Normalization(structure)
        self._added = AddedTokens(structure.added_tokens, spelled)
        self._addable = sorted(self._added.ids - oracle.tokenizer.special_ids)
        self._heads = self._find_heads(structure)
        self._rewritten = lru_cache(_CONTEXTS)(self._find_rewritten)
        self._masks: Recent[Hashable, bytes] = Recent(
            max(64, _BYTES_FOR_MASKS * 8 // max(1, len(spelled)))
        )

    @abstractmethod
    def start(self) -> S: ...

    @abstractmethod
    def step(self, state: S, token: int) -> S: ...

    @abstractmethod
    def aside(self, state: S, token: int) -> S | Hope: ...

    @abstractmethod
    def kept(self, state: S) -> int | None: ...

    @abstractmethod
    def finished_ok(self, state: S) -> bool: ...

    @abstractmethod
    def _key(self, state: S) -> Hashable:
        """What the table's answers depend on; None where there is no table."""

    @abstractmethod
    def _decide(self, state: S) -> Bools:
        """The table's answers: bool[vocab_size], the same for all states of one key."""

    @abstractmethod
    def _decide_one(self, state: S, token: int) -> bool:
        """The table's answer about one token, where there is a table: `_decide(state)[token]`."""

    def mask(self, state: S) -> Bools:
        key = self._key(state)
        if key is None:
            return self._oracle.admits(state.ids, range(len(self._spelled)))
        packed = self._packed(key, state)
        answers = np.unpackbits(packed, count=len(self._spelled), bitorder="little").view(bool)
        for forbidden in self._forbidden(state):
            answers[forbidden] = False
        for token, answer in self._added_answers(state):
            answers[token] = answer
        return answers

    def admits(self, state: S, candidates: Ids) -> Bools:
        key = self._key(state)
        if key is None:
            return self._oracle.admits(state.ids, candidates)
        packed = self._packed(key, state)
        answers: Bools = (packed[candidates >> 3] >> (candidates & 7) & 1).astype(bool)
        for forbidden in self._forbidden(state):
            answers &= ~np.isin(candidates, forbidden)
        for token, answer in self._added_answers(state):
            answers[candidates == token] = answer
        return answers

    def follow(self, state: S, token: int) -> S | None:
        return self.step(state, token) if self._admits_one(state, token) else None

    def _admits_one(self, state: S, token: int) -> bool:
        key = self._key(state)
        if key is None:
            return bool(self._oracle.admits(state.ids, [token])[0])
        if token in self._addable:
            return dict(self._added_answers(state))[token]
        if self._is_forbidden(state, token):
            return False
        if key in self._masks:
            return bool(self._packed(key, state)[token >> 3] >> (token & 7) & 1)
        return self._decide_one(state, token)

    def loses(self, state: S, token: int) -> bool:
        """Whether `token` leaves a character in pieces: no text has such bytes."""
        data = state.unfinished + self._spelled[token]
        return not is_text(data[: len(data) - len(pending(data))])

    def _has_begun(self, state: S) -> bool:
        """Whether the text is more than a dummy prefix; if not, the tokenizer is asked."""
        return bool(state.text.strip(" "))

    def _context(self, state: S) -> str:
        """What a normaliser may rewrite together with what follows, after a whole character."""
        return self._normalization.context(state.text)

    def _packed(self, key: Hashable, state: S) -> npt.NDArray[np.uint8]:
        packed = self._masks.get(
            key, lambda: np.packbits(self._decide(state), bitorder="little").tobytes()
        )
        return np.frombuffer(packed, dtype=np.uint8)

    def _forbidden(self, state: S) -> Iterator[Ids]:
        """Tokens that are out because of the very characters that stand before them."""
        if state.unfinished or not state.text:
            return
        if self._heads and len(found := self._rewritten(self._context(state))):
            yield found
        if self._added.has_begun(state.text):
            yield self._added.completing(state.text)

    def _is_forbidden(self, state: S, token: int) -> bool:
        """Whether `_forbidden` has the token."""
        if state.unfinished or not state.text:
            return False
        data = self._spelled[token]
        head = self._normalization.head(data)
        if head and not self._normalization.keeps(self._context(state) + head):
            return True
        return self._added.is_completed(state.text, data)

    def _find_rewritten(self, context: str) -> Ids:
        """The pieces that the normaliser rewrites together with the end of a text."""
        found = [
            tokens
            for head, tokens in self._heads.items()
            if not self._normalization.keeps(context + head)
        ]
        return np.concatenate([_NONE, *found])

    def _added_answers(self, state: S) -> Iterator[tuple[int, bool]]:
        """Before an added token the text is read as if it ended there.

        The tokenizer is asked where it may not be: a dummy prefix alone is no text, but may stand
        before an added token; and one with whose beginning the text ends may be completed.
        """
        if not self._addable:
            return
        has_begun, rests = self._has_begun(state), self._added.begun(state.text)
        ends_here = has_begun and self.finished_ok(state)
        for token in self._addable:
            data = self._spelled[token]
            completes = any(rest.startswith(data) or data.startswith(rest) for rest in rests)
            if has_begun and not completes:
                yield token, ends_here
            else:
                yield token, bool(self._oracle.admits(state.ids, [token])[0])

    def _find_heads(self, structure: TokenizerStructure) -> dict[str, Ids]:
        """By the joining characters they begin with, the pieces that begin with any."""
        heads: dict[str, list[int]] = {}
        if not self._normalization.idle:
            for token in np.flatnonzero(structure.pieces).tolist():
                if head := self._normalization.head(self._spelled[token]):
                    heads.setdefault(head, []).append(token)
        return {head: np.array(tokens) for head, tokens in heads.items()}
