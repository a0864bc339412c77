r"""Whether a pretokenizer splits a text otherwise where a line end follows.

Most do not: the line end becomes a part of its own, or the end of the last part, and all boundaries
before it stay where they are.

    "Oh!!"    Oh | !!                " ?[^\s\p{L}\p{N}]+[\r\n]*"
    "Oh!!\n"  Oh | !!\n

Others need it: "[.!?]+(?=\n)|[.!?]" makes one part of the signs before a line end, and of each sign
elsewhere.
"""

from __future__ import annotations

import sys
from functools import cache

import regex

from ...interfaces import Split
from .._unsupported import Unsupported
from .byte_steps import read_steps
from .expressions.tree import Atomic, Chars, Choice, End, Look, Node, Repeat, Sequence

_APPENDED = ("\n", " ", "\u2581")  # a space may be seen as the mark that stands for it


@cache
def may_see_line_ends(steps: tuple[str | Split, ...]) -> bool:
    r"""Whether "\n" or " \n" after a text may move boundaries in the text.

    The text does not end in white space. True where that is not known.

    Args:
        steps: of the pretokenizer.
    """
    try:
        return any(_reaches(node, after_text=False) for _, node in read_steps(steps).steps)
    except Unsupported:
        return True


def _reaches(node: Node, *, after_text: bool) -> bool:
    """Whether a match that begins in the text may depend on what was appended.

    A match may take an optional line end along, or leave it. It depends on one that has to be
    there.

    Args:
        node: a part of an expression.
        after_text: whether a character that is no white space may stand before it in the match.
    """
    match node:
        case Sequence(parts):
            for part in parts:
                if _reaches(part, after_text=after_text):
                    return True
                after_text = after_text or _may_hold_text(part)
            return False
        case Choice(options):
            return any(_reaches(option, after_text=after_text) for option in options)
        case Atomic(part):
            return _reaches(part, after_text=after_text)
    return _needs_more(node, after_text)


def _needs_more(node: Node, after_text: bool) -> bool:
    match node:
        case Chars():
            needs = after_text and _takes_appended(node)
        case Repeat(part, least):
            after_itself = least > 1 and _takes_text(part)
            needs = least > 0 and (after_text or after_itself) and _takes_appended(part)
        case Look(part):
            # After white space alone, the next character is one of the text.
            needs = after_text or not isinstance(part, Chars)
        case _:
            needs = isinstance(node, End)
    return needs


def _may_hold_text(node: Node) -> bool:
    """Whether a match may have a character that is no white space."""
    match node:
        case Chars():
            return _takes_text(node)
        case Sequence(parts) | Choice(parts):
            return any(map(_may_hold_text, parts))
        case Repeat(part) | Atomic(part):
            return _may_hold_text(part)
    return False  # what is looked at is no part of the match


def _takes_appended(part: Chars) -> bool:
    return any(regex.fullmatch(part.source, character) for character in _APPENDED)


@cache
def _takes_text(part: Chars) -> bool:
    """Whether it matches any character that is no white space."""
    return regex.search(part.source, _text()) is not None


@cache
def _text() -> str:
    """Every character that is no white space, once."""
    surrogates = range(0xD800, 0xE000)
    every = (chr(code) for code in range(sys.maxunicode + 1) if code not in surrogates)
    return "".join(character for character in every if not character.isspace())
