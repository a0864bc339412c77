"""Whether a tokenizer's normaliser leaves a text alone, decided where two texts meet.

A list of tokens spells its text, so it cannot be consistent where the normaliser rewrites that
text. A normaliser rewrites single characters, or some characters together with those before them;
the latter *join*: combining marks, and what composes with its predecessor.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from ..interfaces import TokenizerStructure

# Metaspace looks at the very beginning of a text only: a space there stands for the dummy prefix.
METASPACE = "metaspace"
_IDLE = frozenset({"identity", METASPACE})
_KNOWN = _IDLE | {"nfc", "nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"}
_NEUTRAL = "|"  # joins nothing and is joined by nothing; it keeps spaces from being the outermost
_LONGEST = 32  # characters of context: longer runs of combining marks are left to the tokenizer


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
            # What Python leaves unassigned may be a combining mark to a newer library.
            or unicodedata.category(character) == "Cn"
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
        """The end of `text` that joining characters behind it may be rewritten with."""
        start = len(text) - 1
        while start > 0 and self.joins(text[start]) and len(text) - start < _LONGEST:
            start -= 1
        return text[max(start, 0) :]


@lru_cache(maxsize=1)
def joining() -> frozenset[str]:
    """Characters that some normal form reorders or composes with their predecessors."""
    found = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}  # Hangul
    for code in range(0x80, 0x20000):  # the planes above hold ideographs alone
        character = chr(code)
        decomposition = unicodedata.decomposition(character)
        if unicodedata.combining(character):
            found.add(character)
        elif decomposition and not decomposition.startswith("<"):
            found.update(chr(int(part, 16)) for part in decomposition.split()[1:])
    return frozenset(found)
