r"""Line ends that a wrapped text had before it was wrapped, found while it is read.

    sent      "Well," said Ann.\nThe next day they went
    wrapped   "Well," said Ann.|The next day|they went        a | for each line end
    joined    "Well," said Ann. The next day they went        "The" did not fit either

The lengths of the lines do not always tell whose a line end is. Where one of the text's own was
taken for a space, the reading soon leaves what can have been written, and before the next one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ..errors import ExtractionError, OutsidePoolError
from ._payload import Payload
from ._rereading import Rereading, Tick
from ._setup import Setup

MOST_OWN_LINE_ENDS = 4  # that are found; each takes as many passes of the model as a reading
_PASSES_FOR_EACH = 8  # of the model, for each line end that may be the text's own


def unwrapped(text: str) -> tuple[str, list[int]]:
    """Lines joined where the next word did not fit, the longest line being the width.

    Returns:
        The joined text, and the offsets in it of the spaces that stand for line ends.
    """
    lines = text.split("\n")
    width = max(map(len, lines))
    joined, spaces = lines[0], list[int]()
    for before, line in pairwise(lines):
        word = line.split(" ", 1)[0]
        fitted = len(before) + 1 + len(word) <= width
        if fitted or not word or not before.strip():
            joined += "\n"
        elif not joined.endswith(" "):
            spaces.append(len(joined))
            joined += " "
        joined += line
    return joined, spaces


def payload_with_own_line_ends(
    setup: Setup, text: str, spaces: Sequence[int], tick: Tick
) -> Payload | None:
    """The payload of `text` with some of its spaces as line ends.

    Args:
        setup: of the text, which has no window.
        text: as it was joined.
        spaces: offsets of the spaces that may have been line ends, in their order.
        tick: called before each token that the model reads.

    Returns:
        The payload; None if no reading gets further than the others before it.

    Raises:
        PassLimitError: the model has read too many tokens.
    """
    most = len(setup.model.tokenizer.encode(text)) + _PASSES_FOR_EACH * len(spaces)
    reached = -1
    for _ in range(MOST_OWN_LINE_ENDS + 1):
        rereading = Rereading(setup, most, tick)
        found = _read(rereading, text)
        if isinstance(found, Payload):
            return found
        if found <= reached:
            return None
        reached = found
        # From the last one back, so that the model goes back and never reads the same again.
        others = [
            f"{text[:at]}\n{text[at + 1 :]}"
            for at in reversed(spaces)
            if at < reached and text[at] == " "
        ]
        text = max(others, key=lambda other: _reached(rereading, other), default=text)
    return None


def _reached(rereading: Rereading, text: str) -> int:
    """How far a reading of the text gets; its payload counts as further than any place."""
    found = _read(rereading, text)
    return len(text) + 1 if isinstance(found, Payload) else found


def _read(rereading: Rereading, text: str) -> Payload | int:
    """The payload, or the offset at which the reading ended."""
    try:
        return rereading.payload(text)
    except ExtractionError as error:
        if isinstance(error, OutsidePoolError) and error.place is not None:
            return error.place.start
        return rereading.reached()
