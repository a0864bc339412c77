"""What a way of verifying without the tokenizer provides."""

from __future__ import annotations

from enum import Enum
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.integer]
Bools = npt.NDArray[np.bool_]

S = TypeVar("S")


class Hope(Enum):
    """What is known of a list that no text begins with."""

    NONE = 0  # no continuation mends it
    UNKNOWN = 1  # the tokenizer must say


class Engine(Protocol[S]):
    """Decides from states, each of which stands for one list of tokens and never changes.

    A state's answers hold if a text may begin with its list, as the mode has it; `step` is defined
    for every list, so that a list which becomes consistent again has its state.
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

    def follow(self, state: S, token: int) -> S | None:
        """`step`, if a text may begin with the list followed by `token`; else None."""
        ...

    def aside(self, state: S, token: int) -> S | Hope:
        """After a list that no text begins with: what tells whether it is mended later on.

        `state` is that of a list which a text may begin with, or a state that this gave; `follow`
        has refused `token` there. A state is given where `follow` answers rightly for it as well:
        the bytes of a character come one by one, or two tokens merge until a third one parts them.
        """
        ...

    def kept(self, state: S) -> int | None:
        """How many tokens stand behind the last stable cut of the list; None if that is unknown."""
        ...

    def mask(self, state: S) -> Bools:
        """`admits` of the whole vocabulary, the caller's own: bool[vocab_size]."""
        ...

    def loses(self, state: S, token: int) -> bool:
        """Whether it is known that no consistent list begins with this one and `token`."""
        ...

    def finished_ok(self, state: S) -> bool:
        """Whether the text may end here: encode(decode(list)) == list."""
        ...
