r"""Added tokens that are part of one another, such as "\n" and "\n\n", or runs of spaces.

A tokenizer looks for added tokens from left to right, and takes the longest one at each place. So a
token that follows may turn an added token into another, longer one:

    "\n" + "a"      the added token "\n", then "a"
    "\n" + "\n"     the added token "\n\n": the list of the two tokens is not consistent

An engine for BPE forgets the text before an added token, since no merge reaches across it. What is
remembered here are the *begun texts*: all ends of the text that reach back before the last added
token, and with which a longer added token begins. A token that completes one is refused, and so it
stays: more text can only make what is found at a place longer. All other answers are those of the
engine.

Places inside an added token do not count, because the tokenizer has passed them. With the added
tokens "nn" and "nm", the text "nnm" is read as "nn" and "m".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..._support.caches import cached_method
from ..._support.packed_bits import Words, clear_bits
from .._tokenizer_rules.added_tokens import AddedTokens, Texts
from .base import Bools, Engine, Ids, Recovery
from .bpe.table_engine import TableEngine, TableState

S = TypeVar("S", bound=TableState)


class NestedState(NamedTuple):
    """A list of tokens.

    Attributes:
        inner: the state of the engine.
        begun: the begun texts, see above.
    """

    inner: Any
    begun: tuple[bytes, ...] = ()


def may_nest(added: Mapping[str, int], special: Collection[int]) -> bool:
    """Whether text after an ordinary added token may make a longer one of it."""
    ordinary = Texts(text for text, token in added.items() if token not in special)
    # At an end of the longer one nothing is missing, and so nothing can follow.
    return any(ordinary.are_in(longer[:-1]) for longer in added)


class NestedAddedTokens(Generic[S]):
    """An engine whose added tokens may be part of one another. Thread-safe.

    Args:
        inner: the engine, exact for added tokens that are not part of one another.
        added: texts and their ids.
        special: ids that no list may hold.
        spelled: the bytes of every id.
    """

    def __init__(
        self,
        inner: TableEngine[S],
        added: Mapping[str, int],
        special: Collection[int],
        spelled: Sequence[bytes],
    ) -> None:
        self._inner = inner
        self._spelled = spelled
        self._tokens = AddedTokens(added, spelled)
        self._ordinary = frozenset(added.values()).difference(special)
        self._texts = frozenset(text.encode() for text in added)
        self._longest = max(map(len, self._texts))
        self._beginnings = {text[:n] for text in self._texts for n in range(1, len(text))}

    def start(self) -> NestedState:
        return NestedState(self._inner.start())

    def step(self, state: NestedState, token: int) -> NestedState:
        return NestedState(self._inner.step(state.inner, token), self._begun_after(state, token))

    def state_of(self, ids: Sequence[int]) -> NestedState:
        # What began before these last tokens is too short to reach their end.
        first, length = len(ids), 0
        while first and length < self._longest:
            first -= 1
            length += len(self._spelled[ids[first]])
        state = NestedState(self._inner.state_of(ids[:first]))
        return reduce(self.step, ids[first:], state)

    def admits(self, state: NestedState, candidates: Ids) -> Bools:
        answers = self._inner.admits(state.inner, candidates)
        if state.begun:
            answers &= ~np.isin(candidates, self._completing(state.begun))
        return answers

    def mask(self, state: NestedState) -> Bools:
        answers = self._inner.mask(state.inner)
        if state.begun:
            answers[self._completing(state.begun)] = False
        return answers

    def packed_mask(self, state: NestedState, out: Words) -> None:
        self.packed_masks((state,), (out,))

    def packed_masks(self, states: Sequence[NestedState], out: Sequence[Words]) -> None:
        self._inner.packed_masks([state.inner for state in states], out)
        for state, words in zip(states, out, strict=True):
            if state.begun:
                clear_bits(words, self._completing(state.begun))

    def step_if_admitted(self, state: NestedState, token: int) -> NestedState | None:
        if state.begun and self._is_completed(state.begun, self._spelled[token]):
            return None
        inner = self._inner.step_if_admitted(state.inner, token)
        return None if inner is None else NestedState(inner, self._begun_after(state, token))

    def step_if_refused(self, state: NestedState, token: int) -> NestedState | Recovery:
        if state.begun:
            completed = self._is_completed(state.begun, self._spelled[token])
            return Recovery.NEVER if completed else Recovery.UNKNOWN
        inner = self._inner.step_if_refused(state.inner, token)
        if isinstance(inner, Recovery):
            return inner
        return NestedState(inner, self._begun_after(state, token))

    def tokens_since_cut(self, state: NestedState) -> int | None:
        return None if state.begun else self._inner.tokens_since_cut(state.inner)

    def never_recovers(self, state: NestedState, token: int) -> bool:
        if state.begun and self._is_completed(state.begun, self._spelled[token]):
            return True
        return self._inner.never_recovers(state.inner, token)

    def is_consistent(self, state: NestedState) -> bool:
        return self._inner.is_consistent(state.inner)

    def _begun_after(self, state: NestedState, token: int) -> tuple[bytes, ...]:
        """The begun texts after one more token."""
        begun = state.begun
        if token in self._ordinary:
            # The text since the last added token, as the engine remembers it, and this token.
            own = self._tokens.beginnings_at_end(self._inner.end_of_text(state.inner))
            begun = (*begun, *(text.encode() for text in own), b"")
        elif not begun:
            return ()
        longer = (text + self._spelled[token] for text in begun)
        return tuple(filter(self._beginnings.__contains__, longer))

    def _is_completed(self, begun: tuple[bytes, ...], data: bytes) -> bool:
        """Whether `data` completes an added token."""
        return any(
            text + data[:n] in self._texts
            for text in begun
            for n in range(1, min(len(data), self._longest - len(text)) + 1)
        )

    @cached_method(256)
    def _completing(self, begun: tuple[bytes, ...]) -> Ids:
        """All ids that complete an added token."""
        rests = {
            text[len(beginning) :]
            for beginning in begun
            for text in self._texts
            if text.startswith(beginning) and len(text) > len(beginning)
        }
        return np.unique(np.concatenate([self._tokens.starting_with(rest) for rest in rests]))


def with_nested(
    engine: TableEngine[Any],
    added: Mapping[str, int],
    special: Collection[int],
    spelled: Sequence[bytes],
) -> Engine[Any]:
    """`engine`, made exact for added tokens that are part of one another, if there are any."""
    if not may_nest(added, special):
        return engine
    return NestedAddedTokens(engine, added, special, spelled)
