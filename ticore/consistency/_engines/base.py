"""The protocol of an engine: what it answers about a list of tokens while the list grows."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import reduce
from typing import Any, Protocol, TypeVar, runtime_checkable

from ..._support.packed_bits import Words
from .._arrays import Bools, Ids

S = TypeVar("S")


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
