r"""`email`: lines are wrapped, wrapped again and quoted.

Programs break lines at spaces, beside hyphens and dashes, and beside East Asian characters, which
stand without spaces. A reader cannot see whether a space stood there. So none of these has white
space beside it in a text that is left alone:

    sent       "a well-known old house"        "1 日目の朝" is never written; "1日目の朝" is
    arrives    "a well-\nknown old\nhouse"
    read as    "a well-known old house"

Where there are no spaces, a program breaks a long line anywhere, such as in a number: "1998年" may
arrive as "19\n98年". So up to six other characters that touch an East Asian one have no white space
beside them either.

The same holds for `>` where a line may be broken before it, since it would be read as the mark of a
quoted line, and for line breaks: a program that wraps quoted lines loses what paragraphs there
were. A word is broken nowhere else.
"""

from __future__ import annotations

import re
from functools import cache
from random import Random
from typing import NamedTuple

from . import _white_space as white_space
from ._base import Channel

# Kana, ideographs and their signs and forms. Korean words stand between spaces.
_WIDE = (
    "\u2e80-\u2fff\u3001-\ua4cf\uf900-\ufaff\ufe30-\ufe4f\uff01-\uffef"
    "\U0001b000-\U0001b2ff\U00020000-\U0003ffff"
)
_DASHES = "\u2010-\u2015\u2212-"
_TOUCHING = 6  # characters; runs of twice as many are covered, from both ends
_CLOSE = f"[{_WIDE}{_DASHES}]"


class _Unsure(NamedTuple):
    """What a reader cannot tell from a program's line breaks."""

    quoted: re.Pattern[str]
    near: re.Pattern[str]
    before_touching: re.Pattern[str]
    after_touching: re.Pattern[str]


@cache  # at import it would be a tenth of the time in which a command starts
def _unsure() -> _Unsure:
    return _Unsure(
        quoted=re.compile(rf"(?:^|(?<=[ {_WIDE}{_DASHES}]))>[> ]*"),
        near=re.compile(rf"(?<={_CLOSE})[ ]+|[ ]+(?={_CLOSE})"),
        before_touching=re.compile(
            rf"[ ]+(?=[^ {_WIDE}]{{1,{_TOUCHING}}}[{_WIDE}])"
            # Whole runs at once: a run of thousands would take seconds.
            rf"|(?<!>)>++(?=[^ {_WIDE}]{{0,{_TOUCHING}}}[{_WIDE}])"
        ),
        after_touching=re.compile(rf"([{_WIDE}][^ {_WIDE}]{{1,{_TOUCHING}}})(?:[ ]+|>+)"),
    )


def _read(text: str) -> str:
    text = white_space.one_line(text)
    unsure = _unsure()
    while True:
        closer = unsure.near.sub("", unsure.quoted.sub("", text))
        if not closer.isascii():
            closer = unsure.before_touching.sub("", closer)
            closer = unsure.after_touching.sub(r"\1", closer)
        if closer == text:
            return text.strip(" ")
        text = closer  # what stands closer now may touch something


# What a line is never broken inside: an East Asian character, each one that touches it, or a word.
_PIECE = (
    rf"[{_WIDE}][^\s{_WIDE}]?|\s*[^\s{_WIDE}](?=[^\s{_WIDE}]{{0,3}}[{_WIDE}])|\s*[^\s{_WIDE}-]*-?"
)


def _wrapped(text: str, random: Random) -> str:
    """Lines of at most 20, 40 or 72 characters, where words are shorter."""
    return _wrap(text, random.choice((20, 40, 72)))


def _wrap(text: str, width: int) -> str:
    lines = [""]
    for piece in re.findall(_PIECE, text.replace("\n", " ")):
        if lines[-1].strip() and len(lines[-1]) + len(piece) > width:
            lines.append(piece.lstrip())
        else:
            lines[-1] += piece
    return "\n".join(lines)


def _quoted(text: str, random: Random) -> str:
    mark = random.choice(("> ", ">", ">> ", "> > "))
    return "\n".join(mark + line for line in text.split("\n"))


def _flowed(text: str, random: Random) -> str:
    """As format=flowed (RFC 3676): soft line ends have a space before, some lines one in front."""
    lines = _wrapped(text, random).split("\n")
    stuffed = [f" {x}" if x.startswith((" ", ">", "From ")) else x for x in lines]
    return " \n".join(stuffed)


def _mailbox(text: str, random: Random) -> str:
    """As mailbox files: lines that begin with "From " are quoted."""
    return re.sub("(?m)^(>*From )", r">\1", text)


EMAIL = Channel(
    "email",
    "lines are wrapped, wrapped again and quoted",
    _read,
    reach=_TOUCHING + 1,
    changes={
        "wrapped lines": _wrapped,
        "quoting": _quoted,
        "format=flowed": _flowed,
        "mailbox files": _mailbox,
        "other line ends": white_space.other_line_ends,
        "white space around the text": white_space.space_around,
        "unseen characters": white_space.unseen_characters,
    },
)
