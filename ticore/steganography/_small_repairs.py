r"""Small changes that people and programs make to a text, undone one at a time near a place.

    place    and then he went     "then" cannot have been written there
    repairs  and, then he went
             and Then he went
             and\nthen he went

A message is authenticated, so at most one of these texts gives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..errors import TextPlace

MOST_SMALL_REPAIRS = 40
_BACK = 24  # characters before the place; a change may have read on for some tokens
_UNLIKELY = 8  # counts as many characters from the place

_MARKS = {
    ",": "comma",
    ".": "full stop",
    "\u3001": "comma",
    "\uff0c": "comma",
    "\u3002": "full stop",
}
_OTHER_MARKS: dict[str, tuple[str, str]] = {
    '"': ("\u201c\u201d", "a quotation mark"),
    "'": ("\u2019\u2018", "an apostrophe"),
    **dict.fromkeys("\u201c\u201d", ('"', "a quotation mark")),
    **dict.fromkeys("\u2018\u2019", ("'", "an apostrophe")),
    "-": ("\u2013\u2014", "a dash"),
    **dict.fromkeys("\u2013\u2014", ("-", "a dash")),
}


@dataclass(frozen=True)
class SmallRepair:
    """One change, undone.

    Attributes:
        what: the change, in words.
        at: where, as an offset in the text before it is undone.
        text: the text without the change.
    """

    what: str
    at: int
    text: str


@dataclass(frozen=True)
class _Swap:
    """Put something in the place of `size` characters at `at`."""

    what: str
    at: int
    size: int
    by: str
    unlikely: bool = False


def small_repairs(place: TextPlace, first: int = 0) -> list[SmallRepair]:
    """The texts that may have become `place.text` by one small change, the likeliest first.

    At most MOST_SMALL_REPAIRS, all different; those nearest to the place come first.

    Args:
        place: where the text leaves what can have been written.
        first: offset of the first character that may have been changed.
    """
    text, centre = place.text, place.start
    found: dict[str, SmallRepair] = {}
    window = range(max(first, centre - _BACK), min(len(text), place.end) + 1)
    swaps = [swap for at in window for swap in _swaps(text, at)]
    swaps.sort(key=lambda swap: abs(swap.at - centre) + _UNLIKELY * swap.unlikely)
    for swap in swaps:
        undone = text[: swap.at] + swap.by + text[swap.at + swap.size :]
        found.setdefault(undone, SmallRepair(swap.what, swap.at, undone))
        if len(found) == MOST_SMALL_REPAIRS:
            break
    return list(found.values())


def _swaps(text: str, at: int) -> Iterator[_Swap]:
    """What may have happened at one place."""
    before, here = text[at - 1 : at], text[at : at + 1]
    yield from _lost(before, here, at)
    if name := _MARKS.get(here):
        yield _Swap(f"a {name} that was added", at, 1, "")
    others, name = _OTHER_MARKS.get(here, ("", ""))
    for other in others:
        yield _Swap(f"{name} of another form", at, 1, other)
    if text[at : at + 2] == "--":
        yield _Swap("a dash of another form", at, 2, "\u2014")
    if here == "\u2014":
        yield _Swap("a dash of another form", at, 1, "--")
    if here == " ":
        yield _Swap("a space in the place of a line break", at, 1, "\n")
        yield _Swap("a space that was added", at, 1, "", before != " ")
    if here == "\n":
        yield _Swap("a line break in the place of a space", at, 1, " ")
        yield _Swap("a line break that was added", at, 1, "")
    if here.swapcase() != here and len(here.swapcase()) == 1 and not before.isalnum():
        yield _Swap("the case of a letter", at, 1, here.swapcase())


def _lost(before: str, here: str, at: int) -> Iterator[_Swap]:
    """What may have stood between two characters."""
    at_end = not here or here.isspace() or not here.isalnum()
    if before.isalnum() and before.isascii() and at_end:
        yield _Swap("a comma that was lost", at, 0, ",")
        yield _Swap("a full stop that was lost", at, 0, ".")
    if before.isalnum() and not before.isascii():
        for mark in "\u3001\uff0c\u3002" if ord(before) > 0x2E80 else ",.":
            yield _Swap(f"a {_MARKS[mark]} that was lost", at, 0, mark)
    if before == " " != here:
        yield _Swap("a space that was lost", at, 0, " ")
    elif before and here and not before.isspace() and not here.isspace():
        yield _Swap("a space that was lost", at, 0, " ", before.isalnum())
    if "\n" in (before, here):
        yield _Swap("a line break that was lost", at, 0, "\n", before != "\n")
