"""The pretokenizers' regular expressions that are known here, and where their splits are settled.

Text that is appended can move a boundary that stood before: a run of spaces gives its last one to
the word that follows, an apostrophe becomes a contraction. For the expressions below it is known
how far back that reaches.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product, takewhile
from operator import methodcaller

import regex

from .characters import is_doubtful

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = CL100K.replace(r"\p{N}{1,3}", r"\p{N}")
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

WORDS = " [^ ]*"  # Metaspace's: a text is split before every space

# The characters from a boundary onward, its own included, that can still move it. A part goes on or
# ends by the next character; white space asks for one more, whether that is white too; and o200k
# takes a contraction into the word before it, an apostrophe and two letters. What no number bounds,
# runs of white space and in o200k of letters, is looked at whole.
_REACH = {GPT2: 2, CL100K: 2, QWEN2: 2, O200K: 3}
KNOWN = frozenset(_REACH)

_END_OF = methodcaller("end")
# One of each kind of character that the expressions tell apart.
_READINGS = ("A", "a", "\u01c5", "\u02b0", "\u3042", "\u0301", "0", "!", "\u3000", "s")
_MOST_DOUBTFUL = 2  # characters; there are ten times as many readings for each
_LOWER_CASE = regex.compile(r"\p{Ll}")
_LETTERS = regex.compile(r"[\p{L}\p{M}]*")


class Splitter:
    """One known expression at work. Raises KeyError for any other.

    Attributes:
        pattern: the expression.
        reach: how many characters from a boundary onward can still move it, its own included.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.reach = _REACH[pattern]
        # In o200k a lower-case letter joins all the capitals before it to what precedes them.
        self._joins_letters = pattern == O200K
        self._expression = regex.compile(pattern)

    def ends(self, text: str) -> Iterator[int]:
        """Where the parts of `text` end, one by one; each begins where the one before ends."""
        return map(_END_OF, self._expression.finditer(text))

    def settled(self, text: str) -> list[int]:
        """The boundaries within `text` that no appended text moves, the last one first.

        Also none of the ways to read an ambiguous character moves them.
        """
        doubtful = [] if text.isascii() else [c for c in text if is_ambiguous(c)]
        if not doubtful:
            return self._settled(text)
        if len(doubtful) > _MOST_DOUBTFUL:
            return []
        places = [at for at, c in enumerate(text) if is_ambiguous(c)]
        found: list[set[int]] = []
        for reading in product(_READINGS, repeat=len(places)):
            characters = list(text)
            for at, character in zip(places, reading, strict=True):
                characters[at] = character
            found.append(set(self._settled("".join(characters))))
        return sorted(set.intersection(*found), reverse=True)

    def _settled(self, text: str) -> list[int]:
        last = min(len(text.rstrip()) - 1, len(text) - self.reach)
        boundaries = [0, *takewhile(last.__ge__, self.ends(text))]
        parts = list(pairwise(boundaries))
        return [end for start, end in reversed(parts) if self._is_settled(text, start, end)]

    def _is_settled(self, text: str, start: int, end: int) -> bool:
        """Whether the part from `start` to `end` ends there, whatever letters follow."""
        # Capitals join a part up to its first lower-case letter only: behind one they begin
        # another part, whatever comes.
        if not self._joins_letters or _LOWER_CASE.search(text, start, end):
            return True
        run = _LETTERS.match(text, end)
        return run is None or run.end() <= len(text) - self.reach


def is_ambiguous(character: str) -> bool:
    """Whether libraries disagree on what a character is.

    Those that Unicode 14 lacks differ by Unicode version, and so does the case of U+0295; a long s
    is an s to some that ignore case.
    """
    return character in "\u017f\u0295" or is_doubtful(character)
