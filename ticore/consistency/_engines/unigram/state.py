"""What the unigram engine remembers of a list."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from .viterbi import ViterbiState


class UnigramState(NamedTuple):
    """A list that is the best segmentation of its text, up to the last whole character.

    Attributes:
        best: the best segmentation up to there.
        last: the last whole character, empty if there is none. One is enough: every change of a
            normalizer here shows in two neighbours, and so does a second space. Where the
            normalizer changes clusters, it is preceded by what else of its cluster matters.
        unfinished: the bytes of the character that the list ends inside; empty if there is none.
    """

    best: ViterbiState = ViterbiState()
    last: str = ""
    unfinished: bytes = b""


class Place(IntEnum):
    """Where a text goes on, as far as the first character that follows is concerned."""

    START = 0  # there is no text
    AFTER_PREFIX = 1  # there is the dummy prefix alone
    AFTER_SPACE = 2
    INSIDE = 3
