"""What a detector offers, and what it sees of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

LENGTH = 128
"""Tokens that a detector sees of a text (the paper, section 5)."""


@dataclass(frozen=True)
class Seen:
    """A text as a detector sees it.

    Attributes:
        index: its number. Texts of one number have one prompt, and where they hide a message, the
            same one.
        text: without its prompt.
        ids: its tokens, as they are read.
        statistics: what the generating model says of it; see `benchmarks._harness.text_statistics`.
    """

    index: int
    text: str
    ids: Sequence[int]
    statistics: Mapping[str, float]


class Detector(Protocol):
    """A way to tell texts with a message from texts without one."""

    def fit(self, texts: Sequence[Seen], hidden: npt.NDArray[np.bool_], seed: int) -> None:
        """Learn from examples, of which `hidden` bool[n] says whether they hide a message."""

    def scores(self, texts: Sequence[Seen]) -> npt.NDArray[np.float64]:
        """float64[n], above 0 where a text seems to hide a message; higher is surer."""
