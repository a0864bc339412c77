"""The protocol of an engine: what it answers about a list of tokens while the list grows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import Enum
from functools import reduce
from typing import Any, Protocol, TypeVar, runtime_checkable
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from ..._support.packed_bits import Words
from ...interfaces import Tokenizer, TokenizerStructure

Ids = npt.NDArray[np.integer]
Bools = npt.NDArray[np.bool_]

S = TypeVar("S")


class Unsupported(Exception):
    """Something is not exact for a tokenizer, and must not be used for it. The text says why."""


def structure_of(tokenizer: Tokenizer) -> TokenizerStructure:
    """The structure of a tokenizer.

    Raises:
        Unsupported: it has none, for the reason that it gives.
    """
    structure = tokenizer.structure()
    if structure is None:
        reason = getattr(tokenizer, "no_structure_reason", "")
        raise Unsupported(reason or "the tokenizer's structure is not known")
    return structure


# As tuples: the garbage collector looks at a tuple of bytes once, and at a list each time.
_SPELLED: WeakKeyDictionary[Tokenizer, tuple[bytes, ...]] = WeakKeyDictionary()


def spelled_by(tokenizer: Tokenizer) -> tuple[bytes, ...]:
    """The bytes of every id, of which all that is made for one tokenizer shares one tuple."""
    with suppress(TypeError):  # it cannot be hashed, or not be referred to weakly
        found = _SPELLED.get(tokenizer)
        if found is None or len(found) != tokenizer.vocab_size:
            found = _SPELLED[tokenizer] = _spelled_by(tokenizer)
        return found
    return _spelled_by(tokenizer)


def spell_each(tokenizer: Tokenizer, ids: Iterable[int]) -> list[bytes]:
    """The bytes of some ids, which need not be those of every id."""
    spelled = _held_by(tokenizer)
    return list(map(tokenizer.token_bytes if spelled is None else spelled.__getitem__, ids))


def _held_by(tokenizer: Tokenizer) -> tuple[bytes, ...] | None:
    """The bytes of every id if the tokenizer holds them, as `LibraryTokenizer` does.

    Asking for the attribute takes a hundredth of what isinstance with a protocol does.
    """
    return getattr(tokenizer, "spelled", None)


def _spelled_by(tokenizer: Tokenizer) -> tuple[bytes, ...]:
    spelled = _held_by(tokenizer)
    if spelled is not None:
        return spelled
    return tuple(map(tokenizer.token_bytes, range(tokenizer.vocab_size)))


class Recovery(Enum):
    """Whether a list that no text may begin with becomes consistent again when it goes on."""

    NEVER = 0  # no continuation makes it consistent
    UNKNOWN = 1  # the tokenizer must be asked


class Engine(Protocol[S]):
    """Answers from states. A state stands for one list of tokens and never changes.

    The answers about a state hold if a text may begin with its list, in the sense of the mode; see
    `ticore.consistency._modes`. `step` is defined for every list: a list that becomes consistent
    again needs a state too.

    Engines are thread-safe.
    """

    def start(self) -> S:
        """The state of the empty list."""
        ...

    def step(self, state: S, token: int) -> S:
        """The state of the list followed by `token`, any id."""
        ...

    def admits(self, state: S, candidates: Ids) -> Bools:
        """For each candidate, whether a text may begin with the list followed by it: bool[n]."""
        ...

    def mask(self, state: S) -> Bools:
        """`admits` of the whole vocabulary, a new array: bool[vocab_size]."""
        ...

    def packed_mask(self, state: S, out: Words) -> None:
        """Write `mask` with one bit per token into uint32[word_count(vocab_size)]."""
        ...

    def step_if_admitted(self, state: S, token: int) -> S | None:
        """`step`, if a text may begin with the list followed by `token`; else None."""
        ...

    def step_if_refused(self, state: S, token: int) -> S | Recovery:
        """What to remember of the list followed by `token`, with which no text begins.

        It tells later whether more tokens make the list admissible again. For example, the three
        tokens of a character in UTF-8 come one by one. In mode `prefix` no text begins with the
        list after the first or the second one, but one does after the third.

        Args:
            state: of a list for which `step_if_admitted(state, token)` gave None; or a state that
                this method gave.
            token: that token.

        Returns:
            A state, if `step_if_admitted` gives right answers for it too; else what is known.
        """
        ...

    def tokens_since_cut(self, state: S) -> int | None:
        """How many tokens stand after the last stable cut of the list; None if that is unknown.

        What stands before a stable cut is tokenized in the same way, whatever follows.
        """
        ...

    def never_recovers(self, state: S, token: int) -> bool:
        """Whether it is known that no consistent list begins with this one and `token`."""
        ...

    def is_consistent(self, state: S) -> bool:
        """Whether the list survives as a whole text: encode(decode(list)) == list."""
        ...


@runtime_checkable
class LocalEngine(Protocol):
    """An Engine whose state depends on the end of a long list alone."""

    def state_of(self, ids: Sequence[int]) -> object:
        """The state of a consistent list, or of a beginning of one, as `step` gives it.

        It may differ from that of `step` in what makes no difference to any answer.
        """
        ...


@runtime_checkable
class BatchEngine(Protocol):
    """An Engine that makes the masks of many states faster together than one by one."""

    def packed_masks(self, states: Sequence[Any], out: Sequence[Words]) -> None:
        """Write `packed_mask` of each state into the words for it."""
        ...


def write_packed_masks(engine: Engine[S], states: Sequence[S], out: Sequence[Words]) -> None:
    """Write `packed_mask` of each state into the words for it."""
    if isinstance(engine, BatchEngine):
        engine.packed_masks(states, out)
        return
    for state, words in zip(states, out, strict=True):
        engine.packed_mask(state, words)


def state_of(engine: Engine[S], ids: Sequence[int]) -> S:
    """The state of a consistent list."""
    if isinstance(engine, LocalEngine):
        state: S = engine.state_of(ids)  # type: ignore[assignment]
        return state
    return reduce(engine.step, ids, engine.start())
