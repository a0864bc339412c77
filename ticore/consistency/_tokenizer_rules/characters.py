"""Facts about characters, the same on every Python.

Each Python has its own version of Unicode, and so has each library. Which tokens a text may go on
with must not depend on the version of Python: else two sides would draw from different candidates.
So the facts are those of Unicode 14. Python 3.11 has it, and every supported library knows it. The
characters fall in three groups:

1. **Assigned in Unicode 14.** Later versions say the same about them. Unicode promises it for
   normal forms and combining classes. A few categories changed, and `pretokenizers.is_ambiguous`
   names those that matter.
2. **Assigned later, and *doubtful*.** The tokenizer is asked about them. Example: U+0378, still
   unassigned.
3. **Signs that were assigned later.** They are not doubtful. One library takes such a sign for
   unassigned, another for a sign, and both treat it alike: not a letter, digit, mark or white
   space, and no normal form changes it. Example: U+1FAE8, the shaking face.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from itertools import groupby

from ..._support.utf8 import completed_code_points
from .unicode14 import ASSIGNED, LATER_SIGNS


def _ranges(text: str) -> list[range]:
    ends = (part.split("-") for part in text.split())
    return [range(int(end[0], 16), int(end[-1], 16) + 1) for end in ends]


_BLOCKS = _ranges(ASSIGNED)
_LASTS = [block[-1] for block in _BLOCKS]
_ASSIGNED, _SIGN = 1, 2
_KINDS = bytearray(0x110000)
for _block in _BLOCKS:
    _KINDS[_block.start : _block.stop] = bytes([_ASSIGNED]) * len(_block)
for _block in _ranges(LATER_SIGNS):
    _KINDS[_block.start : _block.stop] = bytes([_SIGN]) * len(_block)


def is_assigned(character: str) -> bool:
    """Whether Unicode 14 has this character. It has private ones, and no surrogates."""
    return _KINDS[ord(character)] == _ASSIGNED


def is_doubtful(character: str) -> bool:
    """Whether libraries with different versions of Unicode may disagree on this character."""
    return not _KINDS[ord(character)]


def assigned(first: int, last: int) -> Iterator[str]:
    """The characters of Unicode 14 from one code point to another, both included."""
    for at in range(bisect_left(_LASTS, first), len(_BLOCKS)):
        block = _BLOCKS[at]
        if block.start > last:
            break
        yield from map(chr, range(max(first, block.start), min(last + 1, block.stop)))


def completions(unfinished: bytes) -> Iterator[str]:
    """All characters of Unicode 14 whose UTF-8 begins with `unfinished`, by their code points.

    Private ones are included. The result is the same on every Python, since the characters that
    may complete a token decide which tokens may come next.
    """
    code_points = completed_code_points(unfinished)
    return assigned(code_points.start, code_points.stop - 1)


def combining(character: str) -> int:
    """The canonical combining class; 0 if the character does not combine or is doubtful."""
    return unicodedata.combining(character) if is_assigned(character) else 0


def compose(text: str) -> str:
    """`text` in normal form C of Unicode 14. Characters that it lacks stay as they are."""
    composed = unicodedata.normalize("NFC", text)
    # If a newer version leaves a text as it is, so does an older one, which has fewer characters.
    if composed == text or all(map(is_assigned, text)):
        return composed
    return "".join(
        unicodedata.normalize("NFC", "".join(part)) if known else "".join(part)
        for known, part in groupby(text, is_assigned)
    )
