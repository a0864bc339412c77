"""`sms`: one line in the alphabet of telephones, as far as it has the letters.

The alphabet is that of GSM 03.38 with its extension. Telephones replace letters with other accents
by plain ones, and typographic signs by simple ones. It has some small letters without their
capitals, such as "è", which count as lacking here. A text with letters of other scripts, or with
pictures, is sent in UCS-2 as it is.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from random import Random

from ..consistency import send
from ._base import Channel, joined
from ._typographic import TYPOGRAPHIC
from ._white_space import LINE, without_unseen

_OF_ALPHABET = frozenset("ÄÅÆÉÑÖØÜßäåæéñöøü")
_MARKS = re.compile("[\u0300-\u036f]+")


def _read(text: str) -> str:
    if not text.isascii():
        # Characters that nobody sees may stand between a letter and its mark.
        text = without_unseen(text)
        text = _MARKS.sub("", "".join(map(_plain, send(text, "nfc"))))
    return text.replace("`", "'")


@cache
def _plain(character: str) -> str:
    """The letter without accents, if the alphabet lacks it."""
    letter = unicodedata.normalize("NFD", character)[0]
    return letter if letter.isascii() and character not in _OF_ALPHABET else character


def _no_other_accents(text: str, random: Random) -> str:
    return _read(text)


def _decomposed(text: str, random: Random) -> str:
    return unicodedata.normalize("NFD", text)


_LETTERS = Channel(
    "letters",
    "accents that the alphabet of telephones lacks are dropped",
    _read,
    reach=2,
    changes={"no other accents": _no_other_accents, "decomposed characters": _decomposed},
)

SMS = joined(
    (LINE, TYPOGRAPHIC, _LETTERS),
    "sms",
    "one line; typographic signs become simple, rare accents are dropped",
)
