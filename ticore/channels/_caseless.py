"""`caseless`: capital and small letters are not told apart; small ones are written."""

from __future__ import annotations

from random import Random

from ._base import Channel


def _read(text: str) -> str:
    # "ß" becomes "ss", and "ı" becomes "i", as they do on the way through capital letters.
    return text.upper().casefold()


def _upper(text: str, random: Random) -> str:
    return text.upper()


def _lower(text: str, random: Random) -> str:
    return text.lower()


def _titled(text: str, random: Random) -> str:
    return text.title()


def _sentences(text: str, random: Random) -> str:
    """A capital letter after each full stop."""
    return ". ".join(part[:1].upper() + part[1:] for part in text.split(". "))


CASELESS = Channel(
    "caseless",
    "capital and small letters are not told apart; small ones are written",
    _read,
    reach=2,
    changes={
        "capitals": _upper,
        "small letters": _lower,
        "capitals at words": _titled,
        "capitals at sentences": _sentences,
    },
)
