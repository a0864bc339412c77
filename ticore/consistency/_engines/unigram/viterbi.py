"""The most probable segmentation of a text into pieces, one character after the other (Viterbi).

The best segmentation up to some place of a text is the best one up to an earlier place, and one
piece from there:

    best[end] = max over start of best[start] + score(text[start:end])

So no text that follows changes it. To go on, few places need to be known: those from which the
text so far is the beginning of a longer piece. Example: with the pieces "t", "h", "th" and "the",
after "th" the place before "t" is one, because of "the".

Scores are added in float32 or float64. Of equal sums the earliest start wins. In float32, when the
best sum passes a limit, it is reset to zero. SentencePiece does so since version 0.2.2. Here all of
this is done as in the libraries, to the last bit, since rounding decides between segmentations of
equal score.
"""

from __future__ import annotations

from array import array
from math import inf, isinf
from typing import Literal, NamedTuple

import numpy as np

from ..._tokenizer_rules.character_splits import Apart
from .trie import CODE_BITS, Trie, step_key

RESET_BEYOND = 100_000.0
"""When the best sum in float32 is farther from zero than this, it is reset to zero."""

RESET = -1
"""Stands for a node in `ViterbiState.open_pieces`, where the sum was reset to zero."""

ScoreSums = Literal["float32", "float64"]


class ViterbiState(NamedTuple):
    """The best segmentation of a text, as far as it matters for what follows.

    Attributes:
        position: how many characters the text has.
        best_score: the score of the best segmentation.
        open_pieces: (start, node, score) for each place from which the text is the beginning of a
            longer piece, first to last: the node of that beginning, and the best score up to the
            place. Among them (start, RESET, score) says that the sum was reset there: sums that
            began before it are lessened by `score`, after their own rounding.
        last: the last character.
    """

    position: int = 0
    best_score: float = 0.0
    open_pieces: tuple[tuple[int, int, float], ...] = ()
    last: str = ""


class Viterbi:
    """Goes along a text. Thread-safe.

    Args:
        trie: the pieces. A text with the score inf ends every segmentation: a library reads it as
            something else before it looks for pieces.
        unknown: the score of a character that is not a piece.
        sums: what scores are added in.
        are_apart: between which characters a new segmentation begins; None if there are none.
    """

    def __init__(
        self, trie: Trie, unknown: float, sums: ScoreSums, are_apart: Apart | None = None
    ) -> None:
        self._steps = trie.steps()
        self._unknown = unknown
        self._format: Literal["f", "d"] = "f" if sums == "float32" else "d"
        self._limit = RESET_BEYOND if sums == "float32" else inf
        self._are_apart = are_apart
        goes_on = np.zeros(len(trie.parents), dtype=bool)
        goes_on[trie.parents] = True
        self._goes_on = goes_on.tolist()  # whether a longer piece begins with the text of a node
        # Python's floats hold a float32 exactly, and are faster than NumPy's one by one.
        self._scores = [None if score == -inf else score for score in trie.scores.tolist()]

    def node(self, text: str) -> int | None:
        """The node of a text; None if no piece begins with it."""
        node: int | None = 0
        for character in text:
            node = self._steps.get(step_key(node or 0, character))
            if node is None:
                return None
        return node

    def knows(self, character: str) -> bool:
        """Whether `character` is a piece."""
        node = self._steps.get(ord(character))
        return node is not None and self._scores[node] is not None

    def extend(  # noqa: PLR0912  # one loop, as every mask runs it many times
        self, state: ViterbiState, text: str
    ) -> tuple[ViterbiState, int]:
        """Go on with `text`, which is not empty.

        Returns:
            The state after it, and where the last piece of the best segmentation starts. In place
            of a piece there may be a single character that is not a piece. -1 if there is no
            segmentation, because of a text with the score inf.
        """
        steps, scores, unknown, limit = self._steps, self._scores, self._unknown, self._limit
        goes_on = self._goes_on
        rounded = array(self._format, (0.0,))
        are_apart = self._are_apart
        position, best, open_pieces, last = state
        places, start_of_best = list(open_pieces), -1
        for character in text:
            code = ord(character)
            if are_apart is not None and are_apart(last, character):
                places, best = [], 0.0
            elif not -limit <= best <= limit:
                places.append((position, RESET, best))
                best = 0.0
            here, best = best, -inf
            places.append((position, 0, here))
            longer = []
            for place in places:
                start, node, sofar = place
                child = steps.get(node << CODE_BITS | code)
                if child is not None:
                    if goes_on[child]:
                        longer.append((start, child, sofar))
                    if (score := scores[child]) is not None:
                        rounded[0] = sofar + score
                        if (total := rounded[0]) > best:
                            best, start_of_best = total, start
                elif node == RESET:
                    rounded[0] = best - sofar
                    best = rounded[0]
                    if longer:
                        longer.append(place)
            # The last of the places was the one before this character, with the root.
            if child is None or scores[child] is None:
                rounded[0] = here + unknown
                if (total := rounded[0]) > best:
                    best, start_of_best = total, position
            if isinf(best):
                return ViterbiState(position, inf), -1
            position += 1
            places, last = longer, character
        return ViterbiState(position, best, tuple(places), last), start_of_best
