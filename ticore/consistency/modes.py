"""What counts as consistent while a text is still growing.

Every mode asks the same of a finished text, encode(decode(H)) == H. They differ in what they ask of
its beginnings. A list H of tokens may stand at the beginning if

- `prefix`: it would do as a finished text. The paper's stepwise verification.
- `open`: or it ends inside a character, and for some character that finishes it, encode of the
  finished text begins with H.
- `viable`: the same, white space among those characters also with `BEHIND_SPACE` put behind it; or
  it ends between characters, and for some text of `CONTINUATIONS` put behind it, encode of the
  whole begins with H.

Under `prefix`, a character or a blank line that takes several tokens may be out of reach, because
its first tokens alone would be read back as others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from .characters import assigned

Mode = Literal["prefix", "open", "viable"]

# What decides whether a part of the text is split where it ends: that a letter follows, a digit,
# a sign, a line's end near or farther off, or a character that no token is glued to.
CONTINUATIONS = ("a", "1", ".", "\n", " \n", "\u0e3f")
# Splits a run of white space, and is glued to none of it but the plain space.
BEHIND_SPACE = "1"


def beginnings() -> set[str]:
    """All that a text of `CONTINUATIONS` begins with, but for the empty text."""
    return {text[:n] for text in CONTINUATIONS for n in range(1, len(text) + 1)}


def pending(data: bytes) -> bytes:
    """The unfinished UTF-8 character at the end of `data`, empty if there is none.

    >>> pending("né".encode()[:-1])
    b'\\xc3'
    """
    for length in range(1, min(4, len(data) + 1)):
        end = data[-length:]
        if end[0] >= 0xC0:
            return end if length < _length(end[0]) and _may_begin(end) else b""
        if end[0] < 0x80:
            break
    return b""


def is_text(data: bytes) -> bool:
    """Whether these are whole characters in UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def completions(unfinished: bytes) -> Iterator[str]:
    """All characters whose UTF-8 begins with `unfinished`, in order of their code points.

    Those of Unicode 14, private ones included: the same on every Python, since what may finish a
    character decides what a text may go on with.
    """
    missing = _length(unfinished[0]) - len(unfinished)
    first, last = (_code(unfinished + bytes([filler]) * missing) for filler in (0x80, 0xBF))
    least = max(first, _LEAST[len(unfinished) + missing])
    return assigned(least, last)


_LEAST = {2: 0x80, 3: 0x800, 4: 0x10000}  # by number of bytes; smaller codes are overlong


def _length(lead: int) -> int:
    """How many bytes a character has that begins with `lead`."""
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def _may_begin(data: bytes) -> bool:
    """Whether some valid UTF-8 character begins with `data`, which begins with a lead byte."""
    if not 0xC2 <= data[0] <= 0xF4:
        return False
    low = {0xE0: 0xA0, 0xF0: 0x90}.get(data[0], 0x80)
    high = {0xED: 0x9F, 0xF4: 0x8F}.get(data[0], 0xBF)
    return len(data) == 1 or low <= data[1] <= high


def _code(data: bytes) -> int:
    """The code point that `data` spells, also where UTF-8 forbids it."""
    code = data[0] & (0x1F, 0x0F, 0x07)[len(data) - 2]
    for byte in data[1:]:
        code = code << 6 | byte & 0x3F
    return code
