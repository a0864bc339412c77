"""Where a received text leaves what can have been written, and how that is said.

    text      and the old house3 stood
    found                 house3          no candidate is all of it; the nearest one is " house"
    likely                house, man, hill

Candidates are tokens, and a change may be anywhere in the one that does not fit. So what was found
goes on to the end of the word in which the nearest candidate ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from .._support.common_beginning import common_length
from ..disambiguation import Choices, ReceivedText
from ..errors import OutsidePoolError, TextPlace

MOST_LIKELY = 5
_MOST_SHOWN = 24  # characters of what was found, and of what stands before it
_WORD = re.compile(rf"\s*\S{{0,{_MOST_SHOWN}}}")


class TextAsRead:
    """A ReceivedText that knows its text.

    Args:
        text: as it is read.
        tokens: the same text, token by token.
        spell: the bytes of a token.
    """

    def __init__(self, text: str, tokens: ReceivedText, spell: Callable[[int], bytes]) -> None:
        self.text = text
        self._tokens = tokens
        self._spell = spell

    @property
    def known_ids(self) -> Sequence[int] | None:
        return self._tokens.known_ids

    @property
    def exhausted(self) -> bool:
        return self._tokens.exhausted

    def locate(self, choices: Choices) -> int:
        return self._tokens.locate(choices)

    def departure(self, written: str, choices: Choices | None) -> OutsidePoolError:
        """The error for the place where the text does not go on with any of the choices.

        Args:
            written: the text up to there, as its tokens give it.
            choices: of this step; None if nothing at all can be written there.
        """
        ids = [] if choices is None else choices.kept.ids.tolist()
        spelled = (text_of(self._spell(token)) for token in ids)
        return outside_pool(place_after(self.text, written, [each for each in spelled if each]))


def place_after(text: str, written: str, candidates: Sequence[str]) -> TextPlace:
    """Where `text` does not go on with any candidate.

    Args:
        text: as it was read.
        written: what was read of it.
        candidates: what may follow, the most probable first.
    """
    # They differ only if the tokenizer changes the text, or if an unfinished character is last.
    at = common_length(text, written)
    if not at:
        candidates = [each.lstrip(" ") for each in candidates]
    rest = text[at:]
    nearest = max(candidates, key=lambda each: common_length(rest, each), default="")
    alike = rest[: common_length(rest, nearest)]
    spaces = alike[: len(alike) - len(alike.lstrip())]
    ordered = [nearest, *candidates] if alike.strip() else candidates
    follow = (each.removeprefix(spaces) for each in ordered if each.startswith(spaces))
    likely = dict.fromkeys(each for each in follow if each)
    end = _end_of_word(text, at + len(alike))
    return TextPlace(text, at + len(spaces), end, tuple(likely)[:MOST_LIKELY])


def outside_pool(place: TextPlace) -> OutsidePoolError:
    """The error of a place, whose text shows it."""
    at, from_middle = f"{place.start} of the text as it was read", ""
    if place.received_start is not None:
        at, first = str(place.received_start), place.received_start - place.start
        from_middle = f"read from character {first} on: " if first else ""
    before = place.before[-_MOST_SHOWN:]
    context = f", after {before!r}" if before else ""
    found = repr(place.found) if place.found else "the end of the text"
    likely = f" (likely there: {', '.join(map(repr, place.likely))})" if place.likely else ""
    return OutsidePoolError(
        f"{from_middle}at character {at}{context}: {found} cannot have been written there{likely}; "
        f"the text was altered there or before it, such as in a line break, a space or a quotation "
        f"mark, or cut, or written with another model, prompt or other settings",
        place,
    )


def in_received(error: OutsidePoolError, received: str) -> OutsidePoolError:
    """The error with the place in the text that was received, as far as that can be told."""
    place = error.place
    if place is None:
        return error
    read = place.text[: place.end]
    first = None
    if received.endswith(place.text):
        first = len(received) - len(place.text)
    elif received.count(read) == 1:
        first = received.find(read)
    start = None if first is None else first + place.start
    return outside_pool(replace(place, received_start=start))


def furthest(errors: Iterable[OutsidePoolError]) -> OutsidePoolError:
    """The error of the reading that got furthest, which is taken for the right one.

    Wrong ones go on for some words by chance, so another one than the first, of the text as it is,
    counts only if it has read twice as much. White space does not count.

    Args:
        errors: at least one.
    """
    first, *others = errors
    best = max(others, key=_reach, default=first)
    return best if _reach(best) > 2 * _reach(first) else first


def _reach(error: OutsidePoolError) -> int:
    return len("".join(error.place.before.split())) if error.place else 0


def _end_of_word(text: str, at: int) -> int:
    """The end of the word at a place, or of the one after the white space there."""
    word = _WORD.match(text, at)
    return word.end() if word else at


def text_of(spelled: bytes) -> str:
    """The text of a token; empty if it is a part of a character."""
    try:
        return spelled.decode()
    except UnicodeDecodeError:
        return ""
