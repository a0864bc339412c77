"""`ascii`: characters beyond ASCII are lost."""

from __future__ import annotations

from random import Random

from ._base import Channel


def _read(text: str) -> str:
    return text.encode("ascii", "ignore").decode()


def _other_characters(text: str, random: Random) -> str:
    """Characters beyond ASCII, put in somewhere."""
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice("\ufeff\u00bf\u200b\ufffd") + text[at:]


ASCII = Channel(
    "ascii",
    "characters beyond ASCII are lost",
    _read,
    reach=0,
    changes={"other characters": _other_characters},
)
