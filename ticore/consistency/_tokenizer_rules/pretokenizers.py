"""The regular expressions of known pretokenizers, and which of their boundaries are settled.

Text that is appended can move a boundary that stood before. A run of spaces loses its last space to
the word that follows; an apostrophe becomes part of a contraction. For the expressions below it is
known how far back this reaches. A boundary that no appended text moves is *settled*.
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

# How many characters after a boundary can still move it:
# - the next one, with which the part before goes on or ends;
# - after white space one more, since the last space of a run goes to the word after it;
# - in o200k a third: the word before takes a contraction, an apostrophe and two letters.
# Runs of white space, and in o200k runs of letters, have no limit. They are looked at as a whole.
_REACH = {GPT2: 2, CL100K: 2, QWEN2: 2, O200K: 3}
KNOWN = frozenset(_REACH)

_END_OF = methodcaller("end")
# One character of each kind that the expressions tell apart.
_READINGS = ("A", "a", "\u01c5", "\u02b0", "\u3042", "\u0301", "0", "!", "\u3000", "s")
_MOST_DOUBTFUL = 2  # characters; each one more makes the readings ten times as many
_LOWER_CASE = regex.compile(r"\p{Ll}")
_LETTERS = regex.compile(r"[\p{L}\p{M}]*")


class Splitter:
    """Splits texts by one known expression. Thread-safe.

    Attributes:
        pattern: the expression.
        reach: how many characters after a boundary can still move it.

    Raises:
        KeyError: for an expression that is not known.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.reach = _REACH[pattern]
        # In o200k a lower-case letter joins all the capitals before it to what precedes them.
        self._joins_letters = pattern == O200K
        self._expression = regex.compile(pattern)

    def ends(self, text: str) -> Iterator[int]:
        """The offsets where the parts of `text` end. Each part begins where the one before ends."""
        return map(_END_OF, self._expression.finditer(text))

    def settled(self, text: str) -> list[int]:
        """The boundaries inside `text` that no appended text moves, the last one first.

        They are the same for every kind of character that an ambiguous one may be taken for. In a
        text with more than two ambiguous characters no boundary counts as settled.
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
        """Whether the part from `start` to `end` ends there, whichever letters follow."""
        # Capitals join a part only before its first lower-case letter. After it they begin another
        # part, whatever follows.
        if not self._joins_letters or _LOWER_CASE.search(text, start, end):
            return True
        run = _LETTERS.match(text, end)
        return run is None or run.end() <= len(text) - self.reach


def is_ambiguous(character: str) -> bool:
    """Whether libraries disagree on the kind of a character.

    There are three cases: characters that Unicode 14 lacks; U+0295, whose case depends on the
    version of Unicode; and the long s, U+017F, which is an "s" to some libraries that ignore case.
    """
    return character in "\u017f\u0295" or is_doubtful(character)
