"""Whether a tokenizer's normaliser leaves a text alone, decided where two texts meet.

A list of tokens spells its text, so it cannot be consistent where the normaliser rewrites that
text. A normaliser rewrites single characters, or some characters together with those before them;
the latter *join*: combining marks, and what composes with its predecessor.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache

from ..interfaces import TokenizerStructure
from .characters import combining, is_assigned, is_doubtful

# Metaspace looks at the very beginning of a text only: a space there stands for the dummy prefix.
METASPACE = "metaspace"
_IDLE = frozenset({"identity", METASPACE})
_KNOWN = _IDLE | {"nfc", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"}
_NEUTRAL = "|"  # joins nothing and is joined by nothing; it keeps spaces from being the outermost
# SentencePiece replaces what its lists hold, of 4 characters at most; this leaves room for other
# lists. Of a text that it leaves alone, no more than one character less is replaced with others.
_LONGEST_REPLACED = 32
# A normal form of Unicode composes the first and the last of these, a list of replacements never.
_ACROSS_A_MARK, _COMPOSED = "o\u0316\u0301", "ó\u0316"


def obstacle(structure: TokenizerStructure) -> str:
    """Why this normaliser's work is not known here; empty if it is."""
    if structure.normalizer in _KNOWN:
        return ""
    return f"the normaliser {structure.normalizer!r} is not one of those known"


class Normalization:
    """The normaliser of one structure.

    Attributes:
        idle: it changes nothing within a text.
    """

    def __init__(self, structure: TokenizerStructure) -> None:
        self._normalize = structure.normalize or (lambda text: text)
        self._squeezes = not structure.keeps_whitespace
        self.idle = structure.normalizer in _IDLE and not self._squeezes
        self._is_normal_form = self._normalize(_ACROSS_A_MARK) == _COMPOSED
        self.keeps = lru_cache(maxsize=1 << 16)(self._keeps)
        self.joins = lru_cache(maxsize=1 << 13)(self._joins)

    def _keeps(self, text: str) -> bool:
        """Whether `text` stays as it is in the middle of a longer text."""
        # Letters and digits of ASCII, by far the most frequent, stay, but perhaps for their case.
        if self.idle or (text.isascii() and text.isalnum() and text == text.lower()):
            return True
        if self._squeezes and "  " in text:
            return False
        framed = _NEUTRAL + text + _NEUTRAL
        return self._normalize(framed) == framed

    def _joins(self, character: str) -> bool:
        """Whether `character` may be rewritten together with what stands before it."""
        if self.idle:
            return False
        return (
            character in joining()
            or (self._squeezes and character == " ")
            # What was assigned later may be a combining mark to a newer library.
            or is_doubtful(character)
        )

    def head(self, data: bytes) -> str:
        """The joining characters at the beginning of the text that `data` spells."""
        # The first joining character is U+0300.
        if self.idle or not data or (data[0] < 0xCC and data[0] != 0x20):
            return ""
        # Of most tokens no more than the first character has to be looked at.
        if not self.joins(data[:4].decode(errors="replace")[0]):
            return ""
        text = data.decode(errors="replace")
        end = 0
        while end < len(text) and self.joins(text[end]):
            end += 1
        return text[:end]

    def context(self, text: str) -> str:
        """Characters after which joining ones are rewritten as after `text`, if that is kept.

        They are few, and need not be its last ones. Of a text that grows, the context so far and
        what follows have the same context as the whole.
        """
        if self._is_normal_form:
            return context_in_normal_form(text, is_doubtful)
        start = len(text) - 1
        while start > 0 and self.joins(text[start]) and len(text) - start < _LONGEST_REPLACED:
            start -= 1
        return text[max(start, 0) :]


def context_in_normal_form(text: str, is_unknown: Callable[[str], bool]) -> str:
    """The starter that `text` ends in, with the first of the marks of the last one's class.

    A character composes with the starter before it unless one between them blocks it, which is of
    the same class or a higher one; and it changes places with a mark of a higher class than its
    own. In a text that is in normal form, classes rise from the starter on. So of all its marks
    nothing matters but the last one's class, and the first mark of that class stands for all of
    them: it is blocked by none, and still does not compose.

    Args:
        text: in normal form C or KC.
        is_unknown: whether a character may be a mark of a class that is not known here. If there
            are any after the starter, the context is all from there on.
    """
    if not text:
        return ""
    start = first = len(text) - 1
    last, unknown = combining(text[-1]), False
    while start > 0:
        if is_unknown(text[start]):
            unknown = True
        elif not (its_class := combining(text[start])):
            break
        elif its_class == last:
            first = start
        start -= 1
    if unknown:
        return text[start:]
    return text[start] + (text[first] if first > start else "")


@lru_cache(maxsize=1)
def joining() -> frozenset[str]:
    """What a normal form reorders or composes with its predecessors, of Unicode 14."""
    found = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}  # Hangul
    for code in range(0x80, 0x20000):  # the planes above hold ideographs alone
        character = chr(code)
        if not is_assigned(character):
            continue
        decomposition = unicodedata.decomposition(character)
        if combining(character):
            found.add(character)
        elif decomposition and not decomposition.startswith("<"):
            found.update(chr(int(part, 16)) for part in decomposition.split()[1:])
    return frozenset(found)
