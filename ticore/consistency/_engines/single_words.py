r"""Added tokens with the flag single_word: found where no character of a word stands beside them.

Example, with an added token "<m>" that has the flag:

    "a <m>"    is read as "a ", then the added token
    "a<m>"     holds ordinary text alone, since "a" is a character of a word (\w)

Such tokens are special, so no list of other tokens is consistent in whose text one is found. An
engine for a tokenizer that finds them everywhere is right about every text that does not hold them.
Hardly any list spells one out. From where it does, the tokenizer itself is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ..._support.packed_bits import Words, pack
from ...interfaces import TokenizerStructure
from .._modes import beginnings
from .._tokenizer_rules.added_tokens import AddedTokens, Texts
from .base import Bools, Engine, Ids, Recovery, Unsupported, state_of, write_packed_masks
from .retokenizing import Oracle

S = TypeVar("S")

_CHUNK = 64  # ids; a list of n of them is copied n / 64 times in chunks


class History(NamedTuple):
    """The ids of a list, to which one is added quickly.

    Attributes:
        chunks: of `_CHUNK` ids each.
        last: the ids after them, fewer than `_CHUNK`.
    """

    chunks: tuple[tuple[int, ...], ...] = ()
    last: tuple[int, ...] = ()

    @classmethod
    def of(cls, ids: Sequence[int]) -> History:
        whole = len(ids) - len(ids) % _CHUNK
        chunks = tuple(tuple(ids[at : at + _CHUNK]) for at in range(0, whole, _CHUNK))
        return cls(chunks, tuple(ids[whole:]))

    def and_then(self, token: int) -> History:
        last = (*self.last, token)
        if len(last) < _CHUNK:
            return History(self.chunks, last)
        return History((*self.chunks, last))

    def ids(self) -> list[int]:
        return [token for chunk in (*self.chunks, self.last) for token in chunk]


class SingleWordState(NamedTuple):
    """A list of tokens.

    Attributes:
        inner: its state in the engine that always finds the added tokens; None from where its text
            holds one of them.
        end: the end of its text, as long as the beginning of an added token may be.
        history: its ids.
    """

    inner: Any
    end: bytes
    history: History


class SingleWords(Generic[S]):
    """An engine for a tokenizer that has added tokens with the flag single_word. Thread-safe.

    Args:
        inner: an engine for a tokenizer that always finds them, and the same mode.
        texts: theirs, with their ids.
        spelled: the bytes of every id.
        oracle: asks the tokenizer.
    """

    def __init__(
        self, inner: Engine[S], texts: dict[str, int], spelled: Sequence[bytes], oracle: Oracle
    ) -> None:
        self._inner, self._spelled, self._oracle = inner, spelled, oracle
        self._tokens = AddedTokens(texts, spelled)
        self._texts = Texts(text.encode() for text in texts)
        self._longest = self._tokens.longest
        holding = {token for token, data in enumerate(spelled) if self._texts.are_in(data)}
        special = oracle.tokenizer.special_ids
        self._holding = np.array(sorted(holding - special), dtype=np.int64)

    def start(self) -> SingleWordState:
        return SingleWordState(self._inner.start(), b"", History())

    def step(self, state: SingleWordState, token: int) -> SingleWordState:
        if self._must_ask(state, token):
            return self._after(state, token, None)
        return self._after(state, token, self._inner.step(state.inner, token))

    def state_of(self, ids: Sequence[int]) -> SingleWordState:
        text = b"".join(self._spelled[token] for token in ids)
        inner = None if self._texts.are_in(text) else state_of(self._inner, ids)
        return SingleWordState(inner, self._end_of(text), History.of(ids))

    def admits(self, state: SingleWordState, candidates: Ids) -> Bools:
        if state.inner is None:
            return self._oracle.admits(state.history.ids(), candidates.tolist())
        answers = self._inner.admits(state.inner, candidates)
        asked = np.flatnonzero(np.isin(candidates, self._spelling_one(state)))
        if len(asked):
            answers[asked] = self._oracle.admits(state.history.ids(), candidates[asked].tolist())
        return answers

    def mask(self, state: SingleWordState) -> Bools:
        if state.inner is None:
            return self._oracle.admits(state.history.ids(), range(len(self._spelled)))
        answers = self._inner.mask(state.inner)
        if len(asked := self._spelling_one(state)):
            answers[asked] = self._oracle.admits(state.history.ids(), asked.tolist())
        return answers

    def packed_mask(self, state: SingleWordState, out: Words) -> None:
        self.packed_masks((state,), (out,))

    def packed_masks(self, states: Sequence[SingleWordState], out: Sequence[Words]) -> None:
        asked = [s.inner is None or len(self._spelling_one(s)) > 0 for s in states]
        decided = [n for n, is_asked in enumerate(asked) if not is_asked]
        inner = [states[n].inner for n in decided]
        write_packed_masks(self._inner, inner, [out[n] for n in decided])
        for n in np.flatnonzero(asked).tolist():
            out[n][:] = pack(self.mask(states[n]))

    def step_if_admitted(self, state: SingleWordState, token: int) -> SingleWordState | None:
        if self._must_ask(state, token):
            admitted = self._oracle.admits(state.history.ids(), [token])[0]
            return self._after(state, token, None) if admitted else None
        inner = self._inner.step_if_admitted(state.inner, token)
        return None if inner is None else self._after(state, token, inner)

    def step_if_refused(self, state: SingleWordState, token: int) -> SingleWordState | Recovery:
        if self._must_ask(state, token):
            return Recovery.UNKNOWN
        inner = self._inner.step_if_refused(state.inner, token)
        return inner if isinstance(inner, Recovery) else self._after(state, token, inner)

    def tokens_since_cut(self, state: SingleWordState) -> int | None:
        return None if state.inner is None else self._inner.tokens_since_cut(state.inner)

    def never_recovers(self, state: SingleWordState, token: int) -> bool:
        if self._must_ask(state, token):
            return False  # nobody knows
        return self._inner.never_recovers(state.inner, token)

    def is_consistent(self, state: SingleWordState) -> bool:
        if state.inner is None:
            return self._oracle.is_consistent(state.history.ids())
        return self._inner.is_consistent(state.inner)

    def _after(self, state: SingleWordState, token: int, inner: Any) -> SingleWordState:
        end = self._end_of(state.end + self._spelled[token])
        return SingleWordState(inner, end, state.history.and_then(token))

    def _end_of(self, text: bytes) -> bytes:
        return text[max(0, len(text) - self._longest) :]

    def _must_ask(self, state: SingleWordState, token: int) -> bool:
        """Whether the text holds an added token once `token` has come, if not before."""
        return state.inner is None or self._texts.are_in(state.end + self._spelled[token])

    def _spelling_one(self, state: SingleWordState) -> Ids:
        """The ids after which the text holds an added token, where it holds none yet."""
        end = state.end.decode("latin-1")  # a byte for each character, as added tokens are ASCII
        if not self._tokens.has_begun(end):
            return self._holding
        return np.union1d(self._holding, self._tokens.completing(end))


def with_single_words(
    inner: Engine[S], structure: TokenizerStructure, spelled: Sequence[bytes], oracle: Oracle
) -> Engine[Any]:
    """`inner`, made exact for added tokens with the flag single_word, if there are any.

    Raises:
        Unsupported: one is not special or not ASCII, or what a text goes on with in mode `viable`
            may complete it.
    """
    flags, added = structure.added_flags, structure.added_tokens
    texts = {text: added[text] for text, its in flags.items() if its.single_word}
    if not texts:
        return inner
    followed_by = tuple(beginnings()) if oracle.mode == "viable" else ()
    special = oracle.tokenizer.special_ids
    for text, token in texts.items():
        if token not in special or not text.isascii() or text.endswith(followed_by):
            raise Unsupported(f"what stands beside its added token {text!r} (single_word) decides")
    return SingleWords(inner, texts, spelled, oracle)
