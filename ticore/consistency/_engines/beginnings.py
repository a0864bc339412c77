"""Tokenizers that care how a text begins, and each text after an added token.

Two kinds of them are not consistent with some texts for their first character alone:

1. One that puts a space before a text which begins with another character; see `leading_space`.
2. One that drops what no part of a text may begin with; see `change_step`.

All else is as for the same tokenizer without this rule. The engine here asks an engine for that
one, and sees to the beginnings. About a token that leaves the first character unfinished, and about
those that go on with it, the tokenizer is asked: more than the rule may decide there.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..._support.packed_bits import Words, pack
from ..._support.utf8 import unfinished_suffix
from .._arrays import Bools, Ids
from .base import Engine, Recovery, state_of
from .retokenizing import Oracle

S = TypeVar("S")

_LONGEST = 4  # bytes of a character, and so tokens that spell it


class BeginningState(NamedTuple):
    """A list of tokens.

    Attributes:
        inner: its state in the engine for the tokenizer without the rule.
        begun: the tokens of the first character of a text, while it is unfinished; empty before a
            text begins; None after its first character.
    """

    inner: Any
    begun: tuple[int, ...] | None = ()


class BeginningEngine(Generic[S]):
    """An engine that forbids how some texts begin. Thread-safe.

    Args:
        inner: an engine for the tokenizer without the rule, and the same mode.
        may_begin: bool[vocab_size], whether a text may begin with the token.
        is_asked: bool[vocab_size], whether the tokenizer decides that; such a token leaves a
            character unfinished.
        added: ids of added tokens, after which a text begins.
        spelled: the bytes of every id.
        oracle: asks the tokenizer.
    """

    def __init__(
        self,
        inner: Engine[S],
        may_begin: Bools,
        is_asked: Bools,
        added: Collection[int],
        spelled: Sequence[bytes],
        oracle: Oracle,
    ) -> None:
        self._inner = inner
        self._added = frozenset(added)
        self._spelled = spelled
        self._oracle = oracle
        self._is_asked = is_asked
        self._may_begin = may_begin | is_asked
        self._may_begin[list(self._added)] = True
        self._packed = pack(self._may_begin)
        self._first_answers: dict[int, bool] = {}  # of the tokenizer, about the first token

    def start(self) -> BeginningState:
        return BeginningState(self._inner.start())

    def step(self, state: BeginningState, token: int) -> BeginningState:
        return self._after(state, token, self._inner.step(state.inner, token))

    def state_of(self, ids: Sequence[int]) -> BeginningState:
        # More tokens than a character has bytes: only an added token among them begins a text.
        begun: tuple[int, ...] | None = () if len(ids) <= _LONGEST else None
        for token in ids[-_LONGEST:]:
            begun = self._begun_after(begun, token)
        return BeginningState(state_of(self._inner, ids), begun)

    def admits(self, state: BeginningState, candidates: Ids) -> Bools:
        answers = self._inner.admits(state.inner, candidates)
        if state.begun is not None:
            answers = answers & self._beginnings(state.begun, candidates, answers)
        return answers

    def mask(self, state: BeginningState) -> Bools:
        answers = self._inner.mask(state.inner)
        if state.begun is not None:
            answers &= self._beginnings(state.begun, np.arange(len(answers)), answers)
        return answers

    def packed_mask(self, state: BeginningState, out: Words) -> None:
        if state.begun is None:
            self._inner.packed_mask(state.inner, out)
        elif state.begun or self._is_asked.any():
            out[:] = pack(self.mask(state))
        else:
            self._inner.packed_mask(state.inner, out)
            out &= self._packed

    def step_if_admitted(self, state: BeginningState, token: int) -> BeginningState | None:
        if self._is_refused(state, token):
            return None
        inner = self._inner.step_if_admitted(state.inner, token)
        if inner is None or not self._allows_open(state, token):
            return None
        return self._after(state, token, inner)

    def step_if_refused(self, state: BeginningState, token: int) -> BeginningState | Recovery:
        if self.never_recovers(state, token):
            return Recovery.NEVER
        if not self._allows_open(state, token):
            return Recovery.UNKNOWN
        inner = self._inner.step_if_refused(state.inner, token)
        return inner if isinstance(inner, Recovery) else self._after(state, token, inner)

    def tokens_since_cut(self, state: BeginningState) -> int | None:
        return self._inner.tokens_since_cut(state.inner)

    def never_recovers(self, state: BeginningState, token: int) -> bool:
        return self._is_refused(state, token) or self._inner.never_recovers(state.inner, token)

    def is_consistent(self, state: BeginningState) -> bool:
        return self._inner.is_consistent(state.inner)

    def _after(self, state: BeginningState, token: int, inner: Any) -> BeginningState:
        return BeginningState(inner, self._begun_after(state.begun, token))

    def _begun_after(self, begun: tuple[int, ...] | None, token: int) -> tuple[int, ...] | None:
        """`BeginningState.begun` after one more token."""
        if token in self._added:
            return ()
        if begun is None:
            return None
        data = b"".join(self._spelled[i] for i in (*begun, token))
        return (*begun, token) if unfinished_suffix(data) == data else None

    def _is_refused(self, state: BeginningState, token: int) -> bool:
        """Whether no text begins with the token, whatever follows."""
        return state.begun == () and not self._may_begin[token]

    def _beginnings(self, begun: tuple[int, ...], candidates: Ids, admitted: Bools) -> Bools:
        """Whether a text may begin with `begun` and each candidate that the engine admitted."""
        if begun:
            answers, asked = admitted.copy(), np.flatnonzero(admitted)
        else:
            answers = self._may_begin[candidates]
            asked = np.flatnonzero(admitted & self._is_asked[candidates])
        if len(asked):
            answers[asked] = [self._ask(begun, int(token)) for token in candidates[asked]]
        return answers

    def _allows_open(self, state: BeginningState, token: int) -> bool:
        """Whether the tokenizer, where it is asked about a token, lets a text begin with it."""
        begun = state.begun
        if begun is None or token in self._added or not (begun or self._is_asked[token]):
            return True
        return self._ask(begun, token)

    def _ask(self, begun: tuple[int, ...], token: int) -> bool:
        if begun:
            return bool(self._oracle.admits(begun, [token])[0])
        found = self._first_answers.get(token)
        if found is None:
            found = self._first_answers[token] = bool(self._oracle.admits((), [token])[0])
        return found
