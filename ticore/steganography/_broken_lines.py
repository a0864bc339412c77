r"""Lines that a program broke at a width, joined again.

    wrapped   "Well," said Ann. The next day|they left.    a | for each line end: a space
    cut       "Well," said Ann. The nex|t day              inside words: nothing
    Chinese   第二天他们离开了|这个地方。                     either way: nothing

What stood after a line end tells: it did not fit. Where characters are wide, the width is one of
columns, of which they take two each.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

# Most programs begin no line with these, and some let them stand beyond the end of a line.
_CLOSING_MARKS = tuple("、。，．！？：；）］｝」』】》〉,.!?:;)]}”’…")
_HANGING = "、。，．"
_CLOSED = tuple("。！？」』】》〉”’…")  # sentences end with them


class Joined(NamedTuple):
    """Lines that were joined.

    Attributes:
        text: of all lines.
        line_ends: begin and end, in the text, of what stands for each line end.
    """

    text: str
    line_ends: tuple[tuple[int, int], ...]


def unwrapped(text: str) -> Joined:
    """Lines joined where the next word did not fit into the one before.

    In Chinese and Japanese each character counts as a word.
    """
    lines = text.split("\n")
    measure = _measure(lines)
    width = max(measure(line.rstrip(_HANGING)) for line in lines)
    ends = list[str]()
    for before, line in pairwise(lines):
        if before.strip() and _first_word(line) and _is_full(before, line, measure, width):
            ends.append("" if before.endswith(" ") else _space(before, line))
        else:
            ends.append("\n")
    return _joined(lines, ends)


def flowed(text: str) -> str:
    """Lines joined where one ends in a space: `fold -s` keeps it, and so does format=flowed.

    Where characters are wide, it was added (RFC 3676, section 4.3: DelSp).
    """
    return re.sub(
        r"(?<=(\S)) \n(?=(\S))",
        lambda found: "" if all(map(_is_word, found.groups())) else " ",
        text,
    )


def uncut(text: str) -> str:
    """Lines joined where one is as long as the longest: a terminal breaks inside words.

    A single longest line may be whole: it is cut only if the next one goes on as a word does, or
    as a sentence of wide characters. No cut leaves a blank line.
    """
    lines = text.split("\n")
    measure = _measure(lines)
    width = max(map(measure, lines))
    full = [measure(before + (line[:1] or " ")) > width for before, line in pairwise(lines)]
    single = sum(full) + (measure(lines[-1]) == width) == 1
    ends = list[str]()
    for (before, line), is_full in zip(pairwise(lines), full, strict=True):
        cut = line and is_full and (not single or _goes_on(before, line))
        ends.append("" if cut else "\n")
    return _joined(lines, ends).text


def _goes_on(before: str, line: str) -> bool:
    """Whether a line looks like the rest of the one before."""
    first = line[:1]
    if _is_wide(first):
        return not before.endswith(_CLOSED)
    return first.islower() or first.isdecimal() or first in (".", ",")


def _is_full(before: str, line: str, measure: Callable[[str], int], width: int) -> bool:
    """Whether the next line's first word would not have fitted into the one before."""
    return measure(before + _space(before, line) + _first_word(line)) > width


def _space(before: str, line: str) -> str:
    """What stands between the words of two lines."""
    return "" if _is_word(before[-1:]) or _is_word(line[:1]) else " "


def _first_word(line: str) -> str:
    """What a program does not break: a word, and marks that close it.

    Empty if the line is, or begins with a space.
    """
    end = next((at for at, one in enumerate(line) if one == " " or _is_word(one)), len(line))
    if _is_word(line[:1]):
        end = 1
    while line[end : end + 1] in _CLOSING_MARKS:
        end += 1
    return line[:end]


def _measure(lines: Sequence[str]) -> Callable[[str], int]:
    """How these lines were measured: so that most have no room for a word, or a character, more."""
    if not any(map(_is_wide, "".join(lines))):
        return len

    def full(measure: Callable[[str], int]) -> tuple[int, int]:
        width = max(map(measure, lines))
        pairs = list(pairwise(lines))
        words = sum(_is_full(before, line, measure, width) for before, line in pairs)
        return words, sum(measure(before + line[:1]) > width for before, line in pairs)

    return max((_columns, _wide_columns, len), key=full)


def _columns(line: str) -> int:
    return len(line) + sum(map(_is_wide, line))


def _wide_columns(line: str) -> int:
    """As in Chinese and Japanese fonts: some marks that other languages use are wide, too."""
    return len(line) + sum(unicodedata.east_asian_width(one) in "FWA" for one in line)


def _is_wide(character: str) -> bool:
    """Whether it takes two columns; no character does not."""
    return bool(character) and unicodedata.east_asian_width(character) in "FW"


def _is_word(character: str) -> bool:
    """Whether it is a word by itself: lines may be broken next to it, and no space is there.

    Korean has spaces between its words.
    """
    return _is_wide(character) and not "\uac00" <= character <= "\ud7a3"


def _joined(lines: Sequence[str], ends: Sequence[str]) -> Joined:
    text, places = lines[0], list[tuple[int, int]]()
    for end, line in zip(ends, lines[1:], strict=True):
        places.append((len(text), len(text) + len(end)))
        text += end + line
    return Joined(text, tuple(places))
