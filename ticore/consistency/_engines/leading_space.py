"""Tokenizers that put a space before a text which begins with another character.

RoBERTa's does so if its file has `add_prefix_space`. Unlike SentencePiece's dummy prefix, the space
stays in the text that is decoded:

    encode("Hi") == encode(" Hi") == [" Hi"]      decode([" Hi"]) == " Hi"

So a list is consistent if and only if its text is empty or begins with a space, and the list is
consistent with the same tokenizer without this step. The same holds after each added token, since
the tokenizer reads the text there by itself. The engine here asks an engine of the tokenizer
without the step, and sees to the space.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..._support.packed_bits import Words, pack
from ...interfaces import SpacePrefixingTokenizer, Tokenizer
from .base import Bools, Engine, Ids, Recovery, Unsupported, state_of

S = TypeVar("S")


def without_leading_space(tokenizer: Tokenizer) -> Tokenizer:
    """The same tokenizer, without the step that puts a space before texts.

    Raises:
        Unsupported: its adapter does not offer that.
    """
    if not isinstance(tokenizer, SpacePrefixingTokenizer):
        raise Unsupported("the tokenizer puts a space before texts, and cannot be asked without it")
    return tokenizer.without_leading_space()


class LeadingSpaceState(NamedTuple):
    """A list of tokens.

    Attributes:
        inner: its state in the engine of the tokenizer without the step.
        needs_space: the next token must begin with a space, or be an added token.
    """

    inner: Any
    needs_space: bool


class LeadingSpaceEngine(Generic[S]):
    """An engine for a tokenizer that puts a space before texts. Thread-safe.

    Args:
        inner: an engine for the same tokenizer and mode, without this step.
        spelled: the bytes of every id.
        added: ids of added tokens.
    """

    def __init__(self, inner: Engine[S], spelled: Sequence[bytes], added: Collection[int]) -> None:
        self._inner = inner
        self._added = frozenset(added)
        self._may_begin = np.array([data[:1] == b" " for data in spelled], dtype=bool)
        self._may_begin[list(self._added)] = True
        self._packed = pack(self._may_begin)

    def start(self) -> LeadingSpaceState:
        return LeadingSpaceState(self._inner.start(), needs_space=True)

    def step(self, state: LeadingSpaceState, token: int) -> LeadingSpaceState:
        return LeadingSpaceState(self._inner.step(state.inner, token), token in self._added)

    def state_of(self, ids: Sequence[int]) -> LeadingSpaceState:
        needs_space = not ids or ids[-1] in self._added
        return LeadingSpaceState(state_of(self._inner, ids), needs_space)

    def admits(self, state: LeadingSpaceState, candidates: Ids) -> Bools:
        answers = self._inner.admits(state.inner, candidates)
        return answers & self._may_begin[candidates] if state.needs_space else answers

    def mask(self, state: LeadingSpaceState) -> Bools:
        answers = self._inner.mask(state.inner)
        return answers & self._may_begin if state.needs_space else answers

    def packed_mask(self, state: LeadingSpaceState, out: Words) -> None:
        self._inner.packed_mask(state.inner, out)
        if state.needs_space:
            out &= self._packed

    def step_if_admitted(self, state: LeadingSpaceState, token: int) -> LeadingSpaceState | None:
        if self._lacks_space(state, token):
            return None
        inner = self._inner.step_if_admitted(state.inner, token)
        return None if inner is None else LeadingSpaceState(inner, token in self._added)

    def step_if_refused(self, state: LeadingSpaceState, token: int) -> LeadingSpaceState | Recovery:
        if self._lacks_space(state, token):
            return Recovery.NEVER
        inner = self._inner.step_if_refused(state.inner, token)
        if isinstance(inner, Recovery):
            return inner
        return LeadingSpaceState(inner, token in self._added)

    def tokens_since_cut(self, state: LeadingSpaceState) -> int | None:
        return self._inner.tokens_since_cut(state.inner)

    def never_recovers(self, state: LeadingSpaceState, token: int) -> bool:
        return self._lacks_space(state, token) or self._inner.never_recovers(state.inner, token)

    def is_consistent(self, state: LeadingSpaceState) -> bool:
        return self._inner.is_consistent(state.inner)

    def _lacks_space(self, state: LeadingSpaceState, token: int) -> bool:
        """Whether the text would begin with another character, whatever follows."""
        return state.needs_space and not self._may_begin[token]
