"""The most probable segmentation of a text into pieces, carried on one character at a time.

The best segmentation up to some place of a text is the best one up to an earlier place, and one
piece from there: best[end] = max over start of best[start] + score(text[start:end]). So no text
that follows changes it, and what follows needs to know few places to go on from: those where some
piece agrees with the text from there to its end, and goes on.

The sums are rounded to float32, and of equal ones the earliest start wins. Where the best one
passes a limit, counting starts afresh from zero. This is SentencePiece's way since 0.2.2, and it
has to be followed to the bit, since rounding decides where segmentations tie.
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

# SentencePiece scores a character that is no piece this far below the least probable piece.
_UNKNOWN_PENALTY = np.float32(10)
_CODE_BITS = 21  # hold every code point

LIMIT = 100_000.0
"""A best score farther from zero than this is counted as zero by what follows."""

AFRESH = -1
"""Stands for a node in `Frontier.begun`, where counting started afresh."""


class Trie:
    """The pieces, character by character: every beginning of a piece is a node.

    Nodes are numbered by depth; node 0 is the root.

    Args:
        pieces: texts, at least one and none empty, and their scores, which are float32.

    Attributes:
        nodes: each piece's node.
        characters: each node's last character; "" for the root.
        depth, parent: int32[nodes].
        scores: float32[nodes], -inf where a node is no piece.
        unknown: the score of a character that is no piece.
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
        # Python's floats hold a float32 exactly, and one by one they are faster than NumPy's.
        self._scores = [None if score == -inf else score for score in self.scores.tolist()]

    def child(self, node: int, character: str) -> int:
        """The node of `node`'s text followed by `character`; 0 if there is none."""
        return self._children.get(node << _CODE_BITS | ord(character), 0)

    def knows(self, character: str) -> bool:
        """Whether `character` is a piece."""
        return character in self._single

    def extend(self, frontier: Frontier, text: str) -> tuple[Frontier, int]:
        """Go on through `text`, which is not empty.

        Returns:
            The frontier behind it, and where the last piece of the best segmentation starts. A
            character that is no piece may stand for one.
        """
        children, scores, unknown = self._children, self._scores, float(self.unknown)
        rounded = array("f", (0.0,))
        position, best, begun = frontier
        places, start_of_best = list(begun), -1
        for character in text:
            code = ord(character)
            if not -LIMIT <= best <= LIMIT:
                places.append((position, AFRESH, best))
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
                elif node == AFRESH and longer:
                    longer.append((start, node, sofar))
                    rounded[0] = best - sofar
                    best = rounded[0]
            if character not in self._single:
                rounded[0] = here + unknown
                if (total := rounded[0]) > best:
                    best, start_of_best = total, position
            position += 1
            places = longer
        return Frontier(position, best, tuple(places)), start_of_best


class Frontier(NamedTuple):
    """All that what follows a text needs to know about it.

    Attributes:
        position: how many characters it has.
        best: the score of its best segmentation, a float32.
        begun: (start, node, score) for each place where some piece agrees with the text from there
            to its end, first to last: the node of that part, and the best score up to it. Among
            them (start, AFRESH, score) says that counting started afresh: sums that began before
            it are less by `score`, after their own rounding.
    """

    position: int = 0
    best: float = 0.0
    begun: tuple[tuple[int, int, float], ...] = ()
