"""`chat`: what messengers, forms and the clipboard do to a text."""

from __future__ import annotations

import re
import unicodedata
from random import Random

from ..consistency import send
from . import _white_space as white_space
from ._base import Channel

_BREAK = re.compile(r" ?\n[ \n]*")


def _read(text: str) -> str:
    # Characters that nobody sees may stand between a letter and its mark.
    text = white_space.plain(text)
    return _BREAK.sub("\n", text if text.isascii() else send(text, "nfc")).strip(" \n")


def _decomposed(text: str, random: Random) -> str:
    return unicodedata.normalize("NFD", text)


def _blank_lines(text: str, random: Random) -> str:
    return white_space.somewhere(text, random, "\n", "\n\n", "\n \n\n")


def _space_at_line_ends(text: str, random: Random) -> str:
    return white_space.somewhere(text, random, "\n", " \n", "\t\n", "\n  ")


CHAT = Channel(
    "chat",
    "white space is trimmed and folded, at both ends and at line ends; NFC",
    _read,
    reach=3,
    changes={
        "doubled spaces": white_space.doubled_spaces,
        "other spaces": white_space.other_spaces,
        "other line ends": white_space.other_line_ends,
        "white space around the text": white_space.space_around,
        "white space around line breaks": _space_at_line_ends,
        "blank lines": _blank_lines,
        "unseen characters": white_space.unseen_characters,
        "decomposed characters": _decomposed,
    },
)
