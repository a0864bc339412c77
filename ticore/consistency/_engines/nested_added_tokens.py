r"""Added tokens that are part of one another, such as "\n" and "\n\n", or runs of spaces.

A tokenizer looks for added tokens from left to right, and takes the longest one at each place. So a
token that follows may turn an added token into another, longer one:

    "\n" + "a"      the added token "\n", then "a"
    "\n" + "\n"     the added token "\n\n": the list of the two tokens is not consistent

An engine for BPE forgets the text before an added token, since no merge reaches across it. What is
remembered here are the *begun texts*: all ends of the text that reach back before the last added
token, and with which a longer added token begins. A token that completes one is refused, and so it
stays: more text can only make what is found at a place longer. All other answers are those of the
engine, but for one case. In the modes `open` and `viable` what a text goes on with may complete the
longer token as well. Then the tokenizer is asked about the token before that.

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
from ..._support.utf8 import is_continuation_byte
from .._arrays import Bools, Ids
from .._modes import beginnings
from .._tokenizer_rules.added_tokens import Texts
from .base import Engine, Recovery
from .bpe.table_engine import TableEngine, TableState
from .retokenizing import Oracle

S = TypeVar("S", bound=TableState)


class _Begun(NamedTuple):
    """A begun text, see above.

    Attributes:
        text: its bytes.
        ids: the tokens that spell it, and those before them from which the tokenizer reads them
            alike. So they can be asked about by themselves.
    """

    text: bytes
    ids: tuple[int, ...]


class NestedState(NamedTuple):
    """A list of tokens.

    Attributes:
        inner: the state of the engine.
        begun: the begun texts. The one with the most ids comes first.
    """

    inner: Any
    begun: tuple[_Begun, ...] = ()


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
        oracle: of the tokenizer.
        spelled: the bytes of every id.
        asks: whether a list may be consistent because of what follows it. Then the states of the
            engine have all ids that the tokenizer must be asked with.
    """

    def __init__(
        self,
        inner: TableEngine[S],
        added: Mapping[str, int],
        oracle: Oracle,
        spelled: Sequence[bytes],
        *,
        asks: bool,
    ) -> None:
        self._inner = inner
        self._spelled = spelled
        self._oracle = oracle
        self._asks = asks and oracle.mode != "prefix"
        self._followed_by = beginnings() if oracle.mode == "viable" else set[str]()
        self._tokens = inner.added_tokens
        self._ordinary = frozenset(added.values()) - oracle.tokenizer.special_ids
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
            answers &= ~np.isin(candidates, self._forbidden(state.begun))
        return answers

    def mask(self, state: NestedState) -> Bools:
        answers = self._inner.mask(state.inner)
        if state.begun:
            answers[self._forbidden(state.begun)] = False
        return answers

    def packed_mask(self, state: NestedState, out: Words) -> None:
        self.packed_masks((state,), (out,))

    def packed_masks(self, states: Sequence[NestedState], out: Sequence[Words]) -> None:
        self._inner.packed_masks([state.inner for state in states], out)
        for state, words in zip(states, out, strict=True):
            if state.begun:
                clear_bits(words, self._forbidden(state.begun))

    def step_if_admitted(self, state: NestedState, token: int) -> NestedState | None:
        if state.begun and self._is_forbidden(state.begun, token):
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

    def _begun_after(self, state: NestedState, token: int) -> tuple[_Begun, ...]:
        """The begun texts after one more token."""
        begun = state.begun
        if token in self._ordinary:
            # The text since the last added token, as the engine remembers it, and this token.
            own = self._tokens.beginnings_at_end(self._inner.end_of_text(state.inner))
            ids = tuple(state.inner.ids) if own and self._asks else ()
            begun = (*begun, *(_Begun(text.encode(), ids) for text in own), _Begun(b"", ()))
        elif not begun:
            return ()
        data = self._spelled[token]
        longer = (_Begun(text + data, (*ids, token)) for text, ids in begun)
        return tuple(one for one in longer if one.text in self._beginnings)

    def _is_completed(self, begun: tuple[_Begun, ...], data: bytes) -> bool:
        """Whether `data` completes an added token."""
        return any(
            text + data[:n] in self._texts
            for text, _ in begun
            for n in range(1, min(len(data), self._longest - len(text)) + 1)
        )

    def _is_forbidden(self, begun: tuple[_Begun, ...], token: int) -> bool:
        """Whether `token` is one of `_forbidden`."""
        if self._is_completed(begun, self._spelled[token]):
            return True
        if not (self._asks and token in self._doubtful(tuple(text for text, _ in begun))):
            return False
        return not self._oracle.admits(begun[0].ids, [token])[0]

    def _forbidden(self, begun: tuple[_Begun, ...]) -> Ids:
        """The ids that are refused because of begun texts."""
        texts = tuple(text for text, _ in begun)
        completing = self._completing(texts)
        if not (self._asks and len(doubtful := self._doubtful(texts))):
            return completing
        refused = doubtful[~self._oracle.admits(begun[0].ids, doubtful)]
        return np.concatenate([completing, refused])

    @cached_method(256)
    def _completing(self, begun: tuple[bytes, ...]) -> Ids:
        """All ids that complete an added token."""
        rests = self._rests(begun)
        return np.unique(np.concatenate([self._tokens.starting_with(rest) for rest in rests]))

    @cached_method(256)
    def _doubtful(self, begun: tuple[bytes, ...]) -> Ids:
        """Other ids, with which what a text goes on with may complete an added token."""
        found = [
            token
            for rest in self._rests(begun)
            for n in range(1, len(rest))
            if self._may_follow(rest[n:])
            for token in self._tokens.starting_with(rest[:n]).tolist()
            if len(self._spelled[token]) == n
        ]
        return np.setdiff1d(np.array(found, dtype=np.int64), self._completing(begun))

    def _may_follow(self, data: bytes) -> bool:
        """Whether a text may go on with `data`: the end of a character, or a continuation."""
        if is_continuation_byte(data[0]):
            return all(map(is_continuation_byte, data))
        return data.decode() in self._followed_by

    def _rests(self, begun: tuple[bytes, ...]) -> set[bytes]:
        """What would complete added tokens."""
        return {
            text[len(beginning) :]
            for beginning in begun
            for text in self._texts
            if text.startswith(beginning) and len(text) > len(beginning)
        }


def with_nested(
    engine: TableEngine[Any],
    added: Mapping[str, int],
    oracle: Oracle,
    spelled: Sequence[bytes],
    *,
    asks: bool,
) -> Engine[Any]:
    """`engine`, made exact for added tokens that are part of one another, if there are any."""
    if not may_nest(added, oracle.tokenizer.special_ids):
        return engine
    return NestedAddedTokens(engine, added, oracle, spelled, asks=asks)
