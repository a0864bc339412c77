"""Snippets that tokenizers are likely to treat specially where they start, end or meet."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence

_CONTRACTIONS = (
    "I'm|you're|we'll've|DON'T|o'clock|'tis|rock'n'roll|it'S|'|''|dogs' |\u2019s|L'\u00e9t\u00e9"
    "|'\u017f|'\u017ft|x'Rex| 'd|\n'll|'ve'"
)
_BLANKS = (
    "\n|\n\n|\r\n|\r\n\r\n|\r|\n \n| \n|\n  |\t|\t\t\n|\n\n\n\n| |  |   |        |  \n   x"
    "|\u00a0|\u00a0\u00a0| \u00a0 |\u3000|\u3000\u3000|\u2003|\u2009|\u200b|\u2028|\u0085"
    "|\x0b|\x0c|\ufeff|\x00"
)
# Composed, decomposed, out of canonical order, or changed by NFKC alone.
_COMBINATIONS = (
    "\u00e9|e\u0301|e\u0301\u0323|e\u0323\u0301|\u0301|Zu\u0308rich|\u1e9b\u0323|\u304c"
    "|\u304b\u3099|\u3099|\ud55c\uad6d|\u1112\u1161\u11ab|\u1161|\u0915\u094d\u0937|\ufb01n"
    "|\uff8a\uff9f|\uff11\uff12|\u2460|\u00bd|\u212b|\u03a9\u2126|\u01c4|\u0130|\u00df|\u1e9e"
    "|\u0e33|\u0e01\u0e33|\u0f77|\u2f00|\uf900"
)
_BEYOND_THE_FIRST_PLANE = (
    "\U0001f469\u200d\U0001f469\u200d\U0001f467|\U0001f44d\U0001f3fd|\U0001f1ef\U0001f1f5"
    "|\u2764\ufe0f|\u200d|\U0001f600\U0001f600|\U00020bb7\u91ce\u5bb6|\U0001d54f|\U000e0067"
    "|\U00012000|\U0001f9ff"
)
_DIGITS = "1|12|123|1234|12345678|3.14159|1,000,000|\u0661\u0662\u0663|\u0967\u0968|x2y10"
_CASES = (
    "aB|ABc|HTTPServer|iPhone|McDONALD's|\u01c5a|\u02b0A|JSONAPIs'|\u00c9t\u00c9|XXx|\u4e2dA"
    "|\u65e5\u672c\u8a9eABC|Aa\u0301Bb|a\u0301A\u0301|\u13a0\uab70|\u02bb\u014ckina"
)
# Code, what looks like added tokens, and characters that few vocabularies contain.
_SIGNS = (
    "...|!!!|\u3002\u3002|\u300d\u300c|://|\\n|/**/|</s>|<s>|<unk>"
    "|<0x0A>|<pad>|\u2581|\u2581\u2581|[INST]|#\n|);\n\n| //\n|--\n\n"
    "|\u13f0|\ua980|\u1c90|\u169b|\u9fa5|\u4dae|\ufffd|\ufffe"
)
_SNIPPETS = [
    *"|".join(
        (
            _CONTRACTIONS,
            _BLANKS,
            _COMBINATIONS,
            _BEYOND_THE_FIRST_PLANE,
            _DIGITS,
            _CASES,
            _SIGNS,
        )
    ).split("|"),
    "<|endoftext|>",
    "<|im_start|>",
]


def mixed(draw: random.Random, around: Sequence[str]) -> str:
    """Some snippets in a row, with fragments of the texts `around` before, between and after."""
    parts = [fragment(draw, around, 60)]
    for _ in range(draw.randint(1, 6)):
        parts.append(draw.choice(_SNIPPETS))
        parts.append(draw.choice(("", "", " ", fragment(draw, around, 10))))
    return "".join(parts)


def fragment(draw: random.Random, around: Sequence[str], longest: int) -> str:
    """Up to `longest` characters of one of the texts."""
    text = draw.choice(around)
    start = draw.randrange(len(text))
    return text[start : start + draw.randint(0, longest)]


def is_tricky(spelled: bytes) -> bool:
    """Whether a token is blank, short, part of a character, or joins what precedes it."""
    text = spelled.decode(errors="replace")
    return (
        not text.strip()
        or len(text) == 1
        or "\ufffd" in text
        or "'" in text
        or text[-1].isspace()
        or text[0].isdigit()
        or unicodedata.category(text[0])[0] == "M"
        or unicodedata.normalize("NFKC", text) != text
    )
