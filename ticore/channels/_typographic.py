"""`typographic`: signs that telephones and editors put in each other's place."""

from __future__ import annotations

import re
from random import Random

from ._base import Channel
from ._white_space import somewhere

_DASHES = "\u2010-\u2015\u2212"
_DASH = re.compile(f"[-{_DASHES}]+")
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        "\u2026": "...",
        "\u2044": "/",
        "\u00bc": "1/4",
        "\u00bd": "1/2",
        "\u00be": "3/4",
        "\ufb00": "ff",
        "\ufb01": "fi",
        "\ufb02": "fl",
        "\ufb03": "ffi",
        "\ufb04": "ffl",
    }
)


def _read(text: str) -> str:
    return _DASH.sub("-", text.translate(_SIGNS))


def _curly_quotes(text: str, random: Random) -> str:
    text = somewhere(text, random, '"', "\u201c", "\u201d", "\u201e")
    return somewhere(text, random, "'", "\u2018", "\u2019")


def _dashes(text: str, random: Random) -> str:
    return somewhere(text, random, "-", "\u2013", "\u2014", "--", "\u2011")


def _ellipses(text: str, random: Random) -> str:
    return somewhere(text, random, r"\.\.\.", "\u2026")


def _single_signs(text: str, random: Random) -> str:
    for plain, sign in (("1/2", "\u00bd"), ("fi", "\ufb01"), ("ffl", "\ufb04")):
        text = somewhere(text, random, plain, sign)
    return text


TYPOGRAPHIC = Channel(
    "typographic",
    "straight and curly quotation marks, dashes and ellipses are not told apart",
    _read,
    reach=1,
    changes={
        "curly quotation marks": _curly_quotes,
        "other dashes": _dashes,
        "ellipses": _ellipses,
        "single signs for several": _single_signs,
    },
)
