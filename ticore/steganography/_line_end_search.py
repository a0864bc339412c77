r"""Line ends that a program moved or lost, found while the text is read.

    sent      "Well," said Ann.\nThe next day they went to Stow-on-Sea
    wrapped   "Well," said Ann.|The next day|they went to Stow-|on-Sea     a | for each line end
    joined    "Well," said Ann. The next day they went to Stow- on-Sea     "The" did not fit either

Where a program broke a line, a line end of the text's own may have stood, a space, or nothing. And
where a space stands, a line end may have been: browsers show all white space as one space. With a
wrong one the reading leaves what can have been written, sooner or later, or ends without a message.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from .._support.ticks import Tick
from ..errors import ExtractionError, OutsidePoolError, SettingsError
from ._broken_lines import Joined
from ._payload import Payload
from ._rereading import PassLimit, Rereading
from ._setup import Setup

_LINES_BACK = 6  # among which a wrong one is looked for: a reading does not go on for so long
_LIKELIEST = 8  # spaces that may have been line ends, of each reading
_MOST_READINGS = 160  # one may take no pass of the model, where it leaves the text at once
_TIMES = 2  # how often the model may read the text
_MORE_FOR_EACH = 150  # tokens that it may read besides, for each line end that may be another
_MAY_HAVE_STOOD = ("\n", " ", "")


class Change(NamedTuple):
    """What is read in the place of a part of a text.

    Attributes:
        begin, end: offsets of the part.
        by: what is read.
    """

    begin: int
    end: int
    by: str


Changes = tuple[Change, ...]
"""Changes of a text, in the order of their places, of which none overlap."""


class Found(NamedTuple):
    """A payload, and how it was read.

    Attributes:
        payload: as it was hidden.
        text: in which of the texts it was found.
        changes: with which this text was read.
    """

    payload: Payload
    text: int
    changes: Changes


def search_line_ends(texts: Sequence[tuple[Setup, Joined]], tick: Tick) -> Found | None:
    """Read texts with other line ends, the most promising ones first.

    Args:
        texts: what a text may be but for its line ends, and the setup of each, without a window.
        tick: called before each token that the model reads.

    Returns:
        What was found; None if no other line ends give a payload.

    Raises:
        PassLimitError: the model has read too many tokens.
    """
    most = {number: _most_passes(*each) for number, each in enumerate(texts)}
    limit = PassLimit(max(most.values(), default=0), tick)
    searched = {number: _SearchedText(*texts[number], limit) for number in most if most[number]}
    unread: list[tuple[int, Changes]] = [(number, ()) for number in searched]
    seen, waiting = set(unread), list[tuple[_Reading, int, Changes]]()
    while len(seen) <= _MOST_READINGS:
        for number, changes in unread:
            read = searched[number].read(changes)
            if isinstance(read, Payload):
                return Found(read, number, changes)
            heapq.heappush(waiting, (read, number, changes))
        if not waiting:
            break
        read, number, changes = heapq.heappop(waiting)
        others = dict.fromkeys((number, each) for each in searched[number].others(read, changes))
        unread = [each for each in others if each not in seen]
        seen.update(unread)
    return None


def _most_passes(setup: Setup, joined: Joined) -> int:
    try:
        once = len(setup.model.tokenizer.encode(joined.text))
    except SettingsError:
        return 0  # there are no tokens for some characters
    return _TIMES * once + _MORE_FOR_EACH * len(joined.line_ends)


@dataclass(frozen=True, order=True)
class _Reading:
    """A reading that gave no payload. The least one is the most promising.

    Attributes:
        unread: characters after the place where the text left what can have been written.
        surprise: bits per character of the tokens that were read.
        reached: offset in the text, without changes, up to which it was read.
        lost: the likeliest line ends in place of spaces.
    """

    unread: int
    surprise: float
    reached: int = field(compare=False)
    lost: list[Change] = field(compare=False)


class _SearchedText:
    """A text that is read with changes.

    Args:
        setup, joined: of the text.
        limit: of the passes of all texts.
    """

    def __init__(self, setup: Setup, joined: Joined, limit: PassLimit) -> None:
        self._text, self._places = joined
        self._first = len(setup.sent)
        self._channel = setup.passing.channel
        self._rereading = Rereading(setup, limit, keeps="last")

    def others(self, reading: _Reading, changes: Changes) -> Iterator[Changes]:
        """The changes of a reading with another one, if the channel leaves the text alone.

        From the last place back, so that the model goes back and never reads the same again.
        """
        before = [place for place in self._places if place[0] <= reading.reached]
        moved = (
            Change(begin, end, by) for begin, end in before[-_LINES_BACK:] for by in _MAY_HAVE_STOOD
        )
        for change in sorted(chain(moved, reading.lost), reverse=True):
            others = [each for each in changes if each.begin != change.begin]
            if self._text[change.begin : change.end] != change.by:
                others = sorted([*others, change])
            if self._channel.leaves(self._with(others)):
                yield tuple(others)

    def read(self, changes: Changes) -> Payload | _Reading:
        """The payload of the text with these changes, or how far it could be read."""
        text = self._with(changes)
        try:
            return self._rereading.payload(text)
        except ExtractionError as error:
            left = isinstance(error, OutsidePoolError)
            place = error.place if isinstance(error, OutsidePoolError) else None
        at = self._rereading.reached() if place is None else place.start
        reached = without(changes, at)
        lost = heapq.nlargest(_LIKELIEST, self._lost(text, changes))
        return _Reading(
            len(self._text) - reached if left else 0,
            self._rereading.surprise() / max(1, at - self._first),
            reached,
            [change for _, change in lost],
        )

    def _lost(self, text: str, changes: Changes) -> Iterator[tuple[float, Change]]:
        """Line ends that could have been written where the text has a space, with probabilities."""
        changed = {change.begin for change in changes}
        found = self._rereading.line_ends_in_place_of_spaces(text, self._first)
        for at, line_end, probability in found:
            begin = without(changes, at)
            if begin not in changed:  # not a space that was put in
                yield probability, Change(begin, begin + 1, line_end)

    def _with(self, changes: Sequence[Change]) -> str:
        parts, done = list[str](), 0
        for begin, end, by in changes:
            parts += [self._text[done:begin], by]
            done = end
        return "".join([*parts, self._text[done:]])


def without(changes: Sequence[Change], at: int) -> int:
    """Where a character of the changed text, by its offset, stands in the text as it was.

    What was put in has the place of what it stands for.
    """
    for begin, end, by in changes:
        if at < begin + len(by):
            return min(at, begin)
        at += end - begin - len(by)
    return at
