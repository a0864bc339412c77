"""Lines as programs break them, or put them into one."""

from __future__ import annotations

import re
import textwrap
from unicodedata import east_asian_width


def wrapped(text: str, width: int, *, at_hyphens: bool = False) -> str:
    """Lines broken at spaces, which are lost, as mail programs do."""
    lines = text.split("\n")
    return "\n".join(textwrap.fill(line, width, break_on_hyphens=at_hyphens) for line in lines)


def in_one_line(text: str) -> str:
    """All white space as single spaces, as browsers show it and short messages have it."""
    return re.sub(r"\s+", " ", text).strip()


def cut(text: str, width: int, wide: str = "WF") -> str:
    """Lines broken at a number of columns, as terminals do.

    Args:
        text: to be broken.
        width: columns of a line.
        wide: the East Asian widths of characters that take two columns.
    """
    lines = list[str]()
    for whole in text.split("\n"):
        line, columns = "", 0
        for character in whole:
            taken = 2 if east_asian_width(character) in wide else 1
            if columns + taken > width:
                lines.append(line)
                line, columns = "", 0
            line += character
            columns += taken
        lines.append(line)
    return "\n".join(lines)
