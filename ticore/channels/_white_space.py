"""What channels do to white space, and `line`, which makes all of it plain spaces."""

from __future__ import annotations

import re
from random import Random

from ._base import Channel

_LINE_END = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_BLANK = re.compile(r"[^\S\n]+")
_WHITE = re.compile(r"\s+")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_OTHER_SPACES = "\u00a0\u2009\u202f\u3000\t"
_OTHER_LINE_ENDS = ("\r\n", "\r", "\u2028")


def without_unseen(text: str) -> str:
    """Without characters that nobody sees."""
    return _UNSEEN.sub("", text)


def plain(text: str) -> str:
    """Without characters that nobody sees, with LF as line ends and single plain spaces."""
    return _BLANK.sub(" ", _LINE_END.sub("\n", without_unseen(text)))


def one_line(text: str) -> str:
    """Without characters that nobody sees, with single plain spaces, trimmed."""
    return _WHITE.sub(" ", without_unseen(text)).strip(" ")


def somewhere(text: str, random: Random, pattern: str, *others: str) -> str:
    """One of `others` in the place of half of all matches."""
    return re.sub(
        pattern, lambda match: random.choice((*others, *([match[0]] * len(others)))), text
    )


def doubled_spaces(text: str, random: Random) -> str:
    """Two spaces in the place of some."""
    return somewhere(text, random, " ", "  ")


def other_spaces(text: str, random: Random) -> str:
    """Other characters in the place of some spaces."""
    return somewhere(text, random, " ", *_OTHER_SPACES)


def other_line_ends(text: str, random: Random) -> str:
    """Other characters as line ends."""
    return text.replace("\n", random.choice(_OTHER_LINE_ENDS))


def space_around(text: str, random: Random) -> str:
    """White space at both ends."""
    ends = ("", " ", "\n", "\r\n", "\ufeff", "\u3000 ")
    return random.choice(ends) + text + random.choice(ends)


def unseen_characters(text: str, random: Random) -> str:
    """Characters that nobody sees, somewhere inside."""
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice("\u200b\u00ad\u2060\ufeff") + text[at:]


def _line_breaks(text: str, random: Random) -> str:
    return somewhere(text, random, " ", "\n", "\r\n")


LINE = Channel(
    "line",
    "line breaks and runs of white space become one space; both ends are trimmed",
    one_line,
    reach=1,
    changes={
        "doubled spaces": doubled_spaces,
        "other spaces": other_spaces,
        "line breaks in place of spaces": _line_breaks,
        "white space around the text": space_around,
        "unseen characters": unseen_characters,
    },
)
