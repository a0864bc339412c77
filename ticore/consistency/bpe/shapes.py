"""Texts as a pretokenizer's expression sees them.

The expression tells characters apart by the character sets and letters that stand in it, and by
nothing else. So each character can be replaced by any other that lies in the same sets, and after
that few different texts are left: " house" and " tree" have one shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise, product

import numpy as np
import regex

from ..lazy import Lazy
from ..modes import completions
from ..patterns import Splitter, is_ambiguous

AMBIGUOUS = "\ufffe"
"""Stands in a shape for a character whose sets are not certain."""

_SETS = regex.compile(r"\[\^?(?:\\p\{\w+\}|\\.|[^\]])+\]|\\p\{\w+\}|\\[sS]")
# Behind it, and up to two characters on, it matters which letter stands there; nowhere else.
_APOSTROPHE = "'"
_CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
_KINDS = "\u01c5\u02b0\u3042\u0301\u0903\u00a0\u3000\u0085\u00b2"
# The parts of an expression tell apart runs of one character up to this length at most: what
# happens in a longer one happens at its ends. Digits are counted, and no run of them is shortened.
_LONG_RUN = regex.compile(r"(\D)\1{4,}")


@cache
def shapes_of(pattern: str) -> Shapes:
    """The one `Shapes` of an expression: what it learns about characters serves every tokenizer."""
    return Shapes(pattern)


class Shapes:
    """The shapes of texts under one expression."""

    def __init__(self, pattern: str) -> None:
        self._sets = [regex.compile(found) for found in sorted(set(_SETS.findall(pattern)))]
        self._runs = [regex.compile(f"(?:{found.pattern})+") for found in self._sets]
        case = regex.IGNORECASE if "(?i:" in pattern else 0
        literals = sorted(set(_SETS.sub("", pattern.replace("?i:", ""))))
        self._signs = {c for c in literals if c in "' "}
        self._letters = [regex.compile(c, case) for c in literals if c.isalpha()]
        self._no_letter = (False,) * len(self._letters)
        self._members: dict[tuple[object, ...], str] = {}
        self._exact = Lazy(lambda code: self._exact_member(chr(code)))
        self._plain = Lazy(lambda code: self._plain_member(chr(code)))
        self._splitter = Splitter(pattern)
        self._closing = cache(self._find_closing)
        self._endings: dict[bytes, dict[str, list[bytes]]] = {}
        # ASCII first, so that shapes consist of it where they can; then one of each other kind.
        sample = "".join(map(chr, range(0x80))) + _KINDS
        sample.translate(self._exact)
        sample.translate(self._plain)
        self._mere_sign = self._member(_APOSTROPHE, "", self._no_letter)

    def shape(self, text: str, *, behind_apostrophe: bool = False) -> str:
        """The shape of `text`, of the same length.

        Args:
            behind_apostrophe: an apostrophe may be one of the last two characters before it.
        """
        plain = text.translate(self._plain)
        if not behind_apostrophe and _APOSTROPHE not in text:
            return plain
        exact = text.translate(self._exact)
        shape = list(plain)
        if behind_apostrophe:
            shape[:2] = exact[:2]
        for at, character in enumerate(text):
            if character == _APOSTROPHE:
                shape[at + 1 : at + 3] = exact[at + 1 : at + 3]
                if at + 1 < len(text) and exact[at + 1] == plain[at + 1]:
                    shape[at] = self._mere_sign  # no contraction begins here
        return "".join(shape)

    def endings(self, unfinished: bytes) -> Mapping[str, Sequence[bytes]]:
        """The UTF-8 of all characters that begin with `unfinished`, by their shape."""
        if unfinished not in self._endings:
            by_shape: dict[str, list[bytes]] = {}
            characters = "".join(completions(unfinished))
            for character, shape in zip(characters, self._kinds(characters), strict=True):
                by_shape.setdefault(shape, []).append(character.encode())
            self._endings[unfinished] = by_shape
        return self._endings[unfinished]

    def _kinds(self, characters: str) -> list[str]:
        """The shape of each of many assigned characters, none ASCII, found a run at a time."""
        sets = np.zeros(len(characters), dtype=np.int64)
        for n, run in enumerate(self._runs):
            for match in run.finditer(characters):
                sets[match.start() : match.end()] |= 1 << n
        _, firsts, of = np.unique(sets, return_index=True, return_inverse=True)
        shapes = [self.shape(characters[at]) for at in firsts.tolist()]
        return [
            AMBIGUOUS if is_ambiguous(character) else shapes[n]
            for n, character in zip(of.tolist(), characters, strict=True)
        ]

    def divides(self, shape: str) -> bool:
        """Whether every text of this shape is split somewhere, whatever stands around it.

        Then no part holds it, and no token of it can ever be right.
        """
        return any(
            a + b not in self._joined and self._plain_pair(a, b) not in self._joined
            for a, b in pairwise(shape)
        )

    def closing(self, shape: str) -> frozenset[str]:
        """Shapes of characters that never share a part with one of `shape` before them."""
        return self._closing(shape)

    def _find_closing(self, shape: str) -> frozenset[str]:
        members = set(self._plain.values()) - {AMBIGUOUS}
        return frozenset(behind for behind in members if self.divides(shape + behind))

    @cached_property
    def _joined(self) -> frozenset[str]:
        """The pairs of neighbours that some part holds.

        What a part holds side by side, a part of some text of four characters holds as well: no
        known expression asks for more, contractions included.
        """
        members = sorted(set(self._plain.values()) - {AMBIGUOUS})
        texts = ["".join(text) for text in product(members, repeat=4)]
        contractions = {
            "".join(cased).translate(self._exact)
            for text in _CONTRACTIONS
            for cased in product(*((c, c.upper()) for c in text))
        }
        texts += [before + text for before in ["", *members] for text in contractions]
        found: set[str] = set()
        for text in texts:
            start = 0
            for end in self._splitter.ends(text):
                found.update(a + b for a, b in pairwise(text[start:end]))
                start = end
        return frozenset(found)

    @cached_property
    def continuations(self) -> tuple[str, ...]:
        """Texts one of which shows whatever a continuation may do to how a text before it is split.

        No known expression looks further than two characters ahead, contractions aside.
        """
        members = sorted(set(self._plain.values()) - {AMBIGUOUS})
        found = {"", *members, *(a + b for a, b in product(members, repeat=2))}
        for text in _CONTRACTIONS:
            rests = {text[n:] for n in range(1, len(text))}
            found |= {cased for rest in rests for cased in (rest, rest.upper())}
            found |= {rest + member for rest in rests for member in members}
        return tuple(sorted(found))

    def _plain_pair(self, a: str, b: str) -> str:
        return (a + b).translate(self._plain)

    def _exact_member(self, character: str) -> str:
        letters = tuple(letter.fullmatch(character) is not None for letter in self._letters)
        return self._member(character, self._sign_of(character), letters)

    def _plain_member(self, character: str) -> str:
        return self._member(character, self._sign_of(character), self._no_letter)

    def _sign_of(self, character: str) -> str:
        return character if character in self._signs else ""

    def _member(self, character: str, sign: str, letters: tuple[bool, ...]) -> str:
        """The first character met that lies in the same sets and is the same sign or letter."""
        if is_ambiguous(character):
            return AMBIGUOUS
        sets = tuple(found.fullmatch(character) is not None for found in self._sets)
        return self._members.setdefault((sets, sign, letters), character)


def shorten(shape: str, marks: Sequence[int] = ()) -> tuple[str, list[int]]:
    """`shape` with its long runs cut to four characters, the first and the last three.

    Args:
        marks: offsets into `shape`.

    Returns:
        The shorter shape, and where the marks are in it; -1 for those inside what was cut out.
    """
    runs = [(run.start() + 1, run.end() - 3) for run in _LONG_RUN.finditer(shape)]
    if not runs:
        return shape, list(marks)
    moved = [
        -1
        if any(a <= mark <= b for a, b in runs)
        else mark - sum(b - a for a, b in runs if b < mark)
        for mark in marks
    ]
    return _LONG_RUN.sub(lambda run: run[1] * 4, shape), moved
