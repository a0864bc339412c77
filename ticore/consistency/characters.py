"""What is known of characters, on every Python alike.

Each Python has its own version of Unicode, and so has each library. Which tokens a text may go on
with must not depend on Python's: two sides would draw from different candidates. So what is known
here is Unicode 14, which Python 3.11 has and every library that is supported knows; whatever was
assigned later is *doubtful* on every Python, and the tokenizer is asked about it.

What Unicode 14 assigned stays as it was: normal forms and combining classes by Unicode's promise,
so that later tables of Python's say the same about these characters; classes but for a few that
`patterns` names.

Signs that were assigned later are not doubtful. A library that does not know one takes it for
unassigned, another for a sign, and to all that is asked here these are alike: no letter, no digit,
no mark, no white space, and no normal form changes it.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from itertools import groupby

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
    """Whether Unicode 14 has this character; it has private ones, and no surrogates."""
    return _KINDS[ord(character)] == _ASSIGNED


def is_doubtful(character: str) -> bool:
    """Whether libraries may disagree on what this is, their Unicode being older or newer."""
    return not _KINDS[ord(character)]


def assigned(first: int, last: int) -> Iterator[str]:
    """The characters of Unicode 14 from one code point to another, both included."""
    for at in range(bisect_left(_LASTS, first), len(_BLOCKS)):
        block = _BLOCKS[at]
        if block.start > last:
            break
        yield from map(chr, range(max(first, block.start), min(last + 1, block.stop)))


def combining(character: str) -> int:
    """The canonical combining class, 0 for what does not combine and what is doubtful."""
    return unicodedata.combining(character) if is_assigned(character) else 0


def compose(text: str) -> str:
    """`text` in normal form C of Unicode 14, which leaves alone what it does not have."""
    composed = unicodedata.normalize("NFC", text)
    # What a newer version leaves alone an older one does too, which knows fewer characters.
    if composed == text or all(map(is_assigned, text)):
        return composed
    return "".join(
        unicodedata.normalize("NFC", "".join(part)) if known else "".join(part)
        for known, part in groupby(text, is_assigned)
    )
