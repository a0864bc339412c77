"""The most probable segmentation of a text into pieces, one character after the other (Viterbi).

The best segmentation up to some place of a text is the best one up to an earlier place, and one
piece from there:

    best[end] = max over start of best[start] + score(text[start:end])

So no text that follows changes it. To go on, few places need to be known: those from which the
text so far is the beginning of a longer piece. Example: with the pieces "t", "h", "th" and "the",
after "th" the place before "t" is one, because of "the".

Scores are added in float32. Of equal sums the earliest start wins. When the best sum passes a
limit, it is reset to zero. SentencePiece does so since version 0.2.2. Here all of this is done as
in SentencePiece, to the last bit, since rounding decides between segmentations of equal score.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]

# SentencePiece scores a character that is not a piece this far below the least probable piece.
_UNKNOWN_PENALTY = np.float32(10)
_CODE_BITS = 21  # hold every code point

RESET_BEYOND = 100_000.0
"""When the best sum is farther from zero than this, it is reset to zero."""

RESET = -1
"""Stands for a node in `ViterbiState.open_pieces`, where the sum was reset to zero."""


class Trie:
    """The pieces, character by character: every beginning of a piece is a node. Thread-safe.

    Nodes are numbered by depth; node 0 is the root.

    Args:
        pieces: texts, at least one and none empty, and their scores, which are float32.

    Attributes:
        nodes: the node of each piece.
        characters: the last character of each node; "" for the root.
        depth, parent: int32[nodes].
        scores: float32[nodes], -inf where a node is not a piece.
        unknown: the score of a character that is not a piece.
    """

    def __init__(self, pieces: Mapping[str, float]) -> None:
        numbers = {"": 0}
        self.characters, parents, depths = [""], [0], [0]
        self._children: dict[int, int] = {}
        texts = list(pieces)
        while texts:
            depth = depths[-1] + 1
            for text in sorted({text[:depth] for text in texts}):
                node, parent = len(numbers), numbers[text[:-1]]
                numbers[text] = self._children[parent << _CODE_BITS | ord(text[-1])] = node
                self.characters.append(text[-1])
                parents.append(parent)
                depths.append(depth)
            texts = [text for text in texts if len(text) > depth]
        self._single = {text for text in pieces if len(text) == 1}
        self.nodes = {text: numbers[text] for text in pieces}
        self.depth: Ints = np.array(depths, dtype=np.int32)
        self.parent: Ints = np.array(parents, dtype=np.int32)
        self.scores: Floats = np.full(len(depths), -inf, dtype=np.float32)
        self.scores[list(self.nodes.values())] = list(pieces.values())
        self.unknown = np.float32(min(pieces.values())) - _UNKNOWN_PENALTY
        # Python's floats hold a float32 exactly, and are faster than NumPy's one by one.
        self._scores = [None if score == -inf else score for score in self.scores.tolist()]

    def child(self, node: int, character: str) -> int:
        """The node for the text of `node` followed by `character`; 0 if there is none."""
        return self._children.get(node << _CODE_BITS | ord(character), 0)

    def knows(self, character: str) -> bool:
        """Whether `character` is a piece."""
        return character in self._single

    def extend(self, state: ViterbiState, text: str) -> tuple[ViterbiState, int]:
        """Go on with `text`, which is not empty.

        Returns:
            The state after it, and where the last piece of the best segmentation starts. In place
            of a piece there may be a single character that is not a piece.
        """
        children, scores, unknown = self._children, self._scores, float(self.unknown)
        rounded = array("f", (0.0,))
        position, best, open_pieces = state
        places, start_of_best = list(open_pieces), -1
        for character in text:
            code = ord(character)
            if not -RESET_BEYOND <= best <= RESET_BEYOND:
                places.append((position, RESET, best))
                best = 0.0
            here, best = best, -inf
            places.append((position, 0, here))
            longer = []
            for start, node, sofar in places:
                child = children.get(node << _CODE_BITS | code)
                if child is not None:
                    longer.append((start, child, sofar))
                    if (score := scores[child]) is not None:
                        rounded[0] = sofar + score
                        if (total := rounded[0]) > best:
                            best, start_of_best = total, start
                elif node == RESET and longer:
                    longer.append((start, node, sofar))
                    rounded[0] = best - sofar
                    best = rounded[0]
            if character not in self._single:
                rounded[0] = here + unknown
                if (total := rounded[0]) > best:
                    best, start_of_best = total, position
            position += 1
            places = longer
        return ViterbiState(position, best, tuple(places)), start_of_best


class ViterbiState(NamedTuple):
    """The best segmentation of a text, as far as it matters for what follows.

    Attributes:
        position: how many characters the text has.
        best_score: the score of the best segmentation, a float32.
        open_pieces: (start, node, score) for each place from which the text is the beginning of a
            longer piece, first to last: the node of that beginning, and the best score up to the
            place. Among them (start, RESET, score) says that the sum was reset there: sums that
            began before it are lessened by `score`, after their own rounding.
    """

    position: int = 0
    best_score: float = 0.0
    open_pieces: tuple[tuple[int, int, float], ...] = ()
