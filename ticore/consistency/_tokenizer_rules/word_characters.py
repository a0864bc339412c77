r"""Which characters belong to words (\w), as far as every version of Unicode agrees.

The libraries that look for `single_word` tokens take these: letters, marks, digits of all scripts,
signs that connect (such as "_"), two joiners, and some letters that are drawn as signs ("Ⓐ").
"""

from __future__ import annotations

import unicodedata
from functools import cache

from ..._support.utf8 import character_length, is_continuation_byte
from .characters import completions, is_assigned

LONGEST_CHARACTER = 4
"""Bytes."""

_OF_WORDS = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc"})
_OF_NONE = frozenset({"Ps", "Pe", "Pi", "Pf", "Po", "Pd", "Sm", "Sc", "So", "Zs", "Zl", "Zp", "Cc"})
_JOINERS = "\u200c\u200d"
# Letters in a circle or a square, whose category is that of other signs.
_DRAWN = (
    range(0x24B6, 0x24EA),
    range(0x1F130, 0x1F14A),
    range(0x1F150, 0x1F16A),
    range(0x1F170, 0x1F18A),
)


def is_word(character: str) -> bool | None:
    r"""Whether a character matches \w; None where libraries may disagree."""
    if not is_assigned(character):
        return None
    category = unicodedata.category(character)
    if character in _JOINERS or category in _OF_WORDS:
        return True
    if any(ord(character) in drawn for drawn in _DRAWN):
        return True
    return False if category in _OF_NONE else None


def begins_word(data: bytes) -> bool | None:
    """`is_word` of the first character; of one that is unfinished, if all say the same."""
    length = character_length(data[0]) if data[:1] >= b"\xc0" else 1
    return _of(data[:length])


def ends_word(data: bytes) -> bool | None:
    """`is_word` of the last character; None for no bytes, and for an unfinished character."""
    ends = (data[-n:] for n in range(1, min(LONGEST_CHARACTER, len(data)) + 1))
    end = next((end for end in ends if not is_continuation_byte(end[0])), b"")
    return _of(end) if _is_whole(end) else None


@cache
def _of(character: bytes) -> bool | None:
    """`is_word` of a character, or of all that begin with these bytes."""
    if _is_whole(character):
        return is_word(character.decode())
    if character[:1] < b"\xc0":
        return None
    possible = completions(character)
    first = next(map(is_word, possible), None)
    return first if all(is_word(each) == first for each in possible) else None


def _is_whole(character: bytes) -> bool:
    try:
        return len(character.decode()) == 1
    except UnicodeDecodeError:
        return False
