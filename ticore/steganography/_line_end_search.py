r"""What stood where a program broke lines, found while the text is read.

    sent      "Well," said Ann.\nThe next day they went to Stow-on-Sea
    wrapped   "Well," said Ann.|The next day|they went to Stow-|on-Sea     a | for each line end
    joined    "Well," said Ann. The next day they went to Stow- on-Sea     "The" did not fit either

The lengths of the lines do not always tell what stood there: a line end of the text's own, a space,
or nothing. Where the wrong one was taken, the reading soon leaves what can have been written.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from ..errors import ExtractionError, OutsidePoolError
from ._broken_lines import Joined
from ._payload import Payload
from ._rereading import Rereading, Tick
from ._setup import Setup

MOST_OTHERS = 8  # that are found
_LINES_BACK = 6  # among which a wrong one is looked for: a reading does not go on for so long
_PASSES_FOR_EACH = 16  # of the model, for each line end that may be another
_MAY_HAVE_STOOD = ("\n", " ", "")


def payload_with_other_line_ends(setup: Setup, joined: Joined, tick: Tick) -> Payload | None:
    """The payload of lines, some of which were joined by something else than stood there.

    Args:
        setup: of the text, which has no window.
        joined: the text, with the line ends that are unsure, in their order.
        tick: called before each token that the model reads.

    Returns:
        The payload; None if no other line end lets a reading get further.

    Raises:
        PassLimitError: the model has read too many tokens.
    """
    lines, ends = _taken_apart(joined)
    once = len(setup.model.tokenizer.encode(joined.text)) + _PASSES_FOR_EACH * len(ends)
    rereading = Rereading(setup, (MOST_OTHERS + 1) * once, tick)
    begins = list(accumulate(map(len, lines[:-1])))  # of the line ends, in characters of lines
    found = _read(rereading, lines, ends)
    for _ in range(MOST_OTHERS):
        if isinstance(found, Payload):
            break
        others = _others(ends, bisect_right(begins, found))
        further = _furthest(rereading, lines, others, found)
        if further is None:
            break
        found, ends = further
    return found if isinstance(found, Payload) else None


def _furthest(
    rereading: Rereading, lines: Sequence[str], ways: Iterator[list[str]], reached: int
) -> tuple[Payload | int, list[str]] | None:
    """The line ends with which a reading gets furthest, and what it gives; None if none gets on."""
    best = None
    for ends in ways:
        found = _read(rereading, lines, ends)
        if isinstance(found, Payload):
            return found, ends
        if found > reached:
            best, reached = (found, ends), found
    return best


def _others(ends: Sequence[str], count: int) -> Iterator[list[str]]:
    """These line ends with another one among the last of the first `count`.

    From the last one back, so that the model goes back and never reads the same again.
    """
    for at in reversed(range(max(0, count - _LINES_BACK), count)):
        for other in _MAY_HAVE_STOOD:
            if other != ends[at]:
                yield [*ends[:at], other, *ends[at + 1 :]]


def _read(rereading: Rereading, lines: Sequence[str], ends: Sequence[str]) -> Payload | int:
    """The payload, or how many characters of the lines were read."""
    text = "".join(map("".join, zip(lines, [*ends, ""], strict=True)))
    try:
        return rereading.payload(text)
    except ExtractionError as error:
        if isinstance(error, OutsidePoolError) and error.place is not None:
            reached = error.place.start
        else:
            reached = rereading.reached()
    read = 0
    for line, end in zip(lines, [*ends, ""], strict=True):
        read += min(len(line), reached)
        reached -= min(len(line) + len(end), reached)
    return read


def _taken_apart(joined: Joined) -> tuple[list[str], list[str]]:
    """The lines of a text, and what stands for the line ends between them."""
    text, places = joined
    begins = [0, *(end for _, end in places)]
    ends = [*(begin for begin, _ in places), len(text)]
    lines = [text[begin:end] for begin, end in zip(begins, ends, strict=True)]
    return lines, [text[begin:end] for begin, end in places]
