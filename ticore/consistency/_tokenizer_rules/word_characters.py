r"""Which characters belong to words (\w), as far as every version of Unicode agrees."""

from __future__ import annotations

from ..._support.utf8 import character_length, is_continuation_byte

LONGEST_CHARACTER = 4
"""Bytes."""


def is_word(character: str) -> bool | None:
    r"""Whether a character matches \w; None if that depends on the version of Unicode, or on more.

    A letter stays a letter in every later version. Marks, joiners, digits of other scripts and
    signs beyond ASCII are left open.
    """
    if character.isascii():
        return character.isalnum() or character == "_"
    return True if character.isalpha() else None


def begins_word(data: bytes) -> bool | None:
    """`is_word` of the first character; None for no bytes, and for an unfinished character."""
    length = character_length(data[0]) if data[:1] >= b"\xc0" else 1
    return _of(data[:length])


def ends_word(data: bytes) -> bool | None:
    """`is_word` of the last character; None for no bytes, and for an unfinished character."""
    ends = (data[-n:] for n in range(1, min(LONGEST_CHARACTER, len(data)) + 1))
    return _of(next((end for end in ends if not is_continuation_byte(end[0])), b""))


def _of(character: bytes) -> bool | None:
    try:
        text = character.decode()
    except UnicodeDecodeError:
        return None
    return is_word(text) if len(text) == 1 else None
