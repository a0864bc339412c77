r"""Texts as a pretokenizer's expression sees them: by classes of characters.

The expression tells characters apart by the character sets and the letters that stand in it, and by
nothing else. So every character can be replaced by one representative of its class. What is left is
the *shape* of the text (a "word shape" elsewhere), and it is split where the text is split. With
GPT-2's expression:

    " house's"   ->  " AAAAA's"       \p{L} is one class; after an apostrophe the letter counts
    " Straße's"  ->  " AAAAAA's"

A vocabulary of 150,000 tokens has a few hundred shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise, product

import numpy as np
import regex

from ...._support.caches import TextTable, cached_method
from ..._tokenizer_rules.characters import completions
from ..._tokenizer_rules.pretokenizers import Splitter, is_ambiguous

AMBIGUOUS = "\ufffe"
"""Stands in a shape for a character whose classes are not the same in all libraries."""

_SETS = regex.compile(r"\[\^?(?:\\p\{\w+\}|\\.|[^\]])+\]|\\p\{\w+\}|\\[sS]")
# Which letter a character is matters in the two characters after an apostrophe, and nowhere else.
_APOSTROPHE = "'"
_CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
# One character of every kind that ASCII lacks.
_OTHER_KINDS = "\u01c5\u02b0\u3042\u0301\u0903\u00a0\u3000\u0085\u00b2"
# What an expression does in a longer run of one character, it does at the run's ends. Digits are
# counted by some expressions, so no run of digits is shortened.
_LONG_RUN = regex.compile(r"(\D)\1{4,}")
_CACHED_SHAPES, _CACHED_BEGINNINGS = 1 << 12, 1 << 12  # of one character


@cache
def shapes_for(pattern: str) -> Shapes:
    """The one `Shapes` of an expression, so that every tokenizer uses what it has learned."""
    return Shapes(pattern)


class Shapes:
    """The shapes of texts under one expression.

    Args:
        pattern: one of `KNOWN` in `_tokenizer_rules.pretokenizers`.
    """

    def __init__(self, pattern: str) -> None:
        self._sets = [regex.compile(found) for found in sorted(set(_SETS.findall(pattern)))]
        self._runs = [regex.compile(f"(?:{found.pattern})+") for found in self._sets]
        case = regex.IGNORECASE if "(?i:" in pattern else 0
        literals = sorted(set(_SETS.sub("", pattern.replace("?i:", ""))))
        self._signs = {c for c in literals if c in "' "}
        self._letters = [regex.compile(c, case) for c in literals if c.isalpha()]
        self._no_letter = (False,) * len(self._letters)
        self._representatives: dict[tuple[object, ...], str] = {}
        # By code point: with the letters of contractions told apart, and without.
        self._with_letters = TextTable(self._find_with_letters)
        self._without_letters = TextTable(self._find_without_letters)
        self._splitter = Splitter(pattern)
        # ASCII first, so that representatives are ASCII where they can; then the other kinds.
        sample = "".join(map(chr, range(0x80))) + _OTHER_KINDS
        sample.translate(self._with_letters)
        sample.translate(self._without_letters)
        self._plain_sign = self._representative(_APOSTROPHE, "", self._no_letter)

    def shape(self, text: str, *, near_apostrophe: bool = False) -> str:
        """The shape of `text`, of the same length.

        Args:
            text: any text.
            near_apostrophe: one of the last two characters before `text` may be an apostrophe.
        """
        without_letters = text.translate(self._without_letters)
        if not near_apostrophe and _APOSTROPHE not in text:
            return without_letters
        if _APOSTROPHE not in text:
            return text[:2].translate(self._with_letters) + without_letters[2:]
        with_letters = text.translate(self._with_letters)
        shape = list(without_letters)
        if near_apostrophe:
            shape[:2] = with_letters[:2]
        for at, character in enumerate(text):
            if character == _APOSTROPHE:
                shape[at + 1 : at + 3] = with_letters[at + 1 : at + 3]
                if at + 1 < len(text) and with_letters[at + 1] == without_letters[at + 1]:
                    shape[at] = self._plain_sign  # no contraction begins here
        return "".join(shape)

    @cached_method(_CACHED_BEGINNINGS)
    def completions_by_shape(self, unfinished: bytes) -> Mapping[str, Sequence[bytes]]:
        """The UTF-8 of all characters that begin with `unfinished`, by their shape."""
        by_shape: dict[str, list[bytes]] = {}
        characters = "".join(completions(unfinished))
        for character, shape in zip(characters, self._shape_each(characters), strict=True):
            by_shape.setdefault(shape, []).append(character.encode())
        return by_shape

    def _shape_each(self, characters: str) -> list[str]:
        """The shape of each of many assigned characters, none of ASCII, found a run at a time."""
        sets = np.zeros(len(characters), dtype=np.int64)
        for n, run in enumerate(self._runs):
            for match in run.finditer(characters):
                sets[match.start() : match.end()] |= 1 << n
        _, firsts, class_of = np.unique(sets, return_index=True, return_inverse=True)
        shapes = [self.shape(characters[at]) for at in firsts.tolist()]
        return [
            AMBIGUOUS if is_ambiguous(character) else shapes[n]
            for n, character in zip(class_of.tolist(), characters, strict=True)
        ]

    def is_always_split(self, shape: str) -> bool:
        """Whether every text of this shape is split somewhere inside, whatever stands around it.

        Then no part holds such a text, and a token that spells it is never canonical.
        """
        return any(
            a + b not in self._joined and self._pair_without_letters(a, b) not in self._joined
            for a, b in pairwise(shape)
        )

    @cached_method(_CACHED_SHAPES)
    def never_joined_after(self, shape: str) -> frozenset[str]:
        """The shapes of characters that never share a part with a character of `shape` before."""
        members = set(self._without_letters.values()) - {AMBIGUOUS}
        return frozenset(after for after in members if self.is_always_split(shape + after))

    @cached_property
    def _joined(self) -> frozenset[str]:
        """The pairs of neighbours that some part holds.

        Texts of four characters show all of them: no known expression looks at more characters to
        decide whether two share a part, contractions included.
        """
        members = sorted(set(self._without_letters.values()) - {AMBIGUOUS})
        texts = ["".join(text) for text in product(members, repeat=4)]
        contractions = {
            "".join(cased).translate(self._with_letters)
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
    def continuations_to_try(self) -> tuple[str, ...]:
        """A set of texts that shows all effects of a continuation on the text before it.

        Whatever a continuation does to how a text before it is split, one of these does as well. No
        known expression looks further than two characters ahead, except for contractions.
        """
        members = sorted(set(self._without_letters.values()) - {AMBIGUOUS})
        found = {"", *members, *(a + b for a, b in product(members, repeat=2))}
        for text in _CONTRACTIONS:
            rests = {text[n:] for n in range(1, len(text))}
            found |= {cased for rest in rests for cased in (rest, rest.upper())}
            found |= {rest + member for rest in rests for member in members}
        return tuple(sorted(found))

    def _pair_without_letters(self, a: str, b: str) -> str:
        return (a + b).translate(self._without_letters)

    def _find_with_letters(self, code: int) -> str:
        character = chr(code)
        letters = tuple(letter.fullmatch(character) is not None for letter in self._letters)
        return self._representative(character, self._sign_of(character), letters)

    def _find_without_letters(self, code: int) -> str:
        character = chr(code)
        return self._representative(character, self._sign_of(character), self._no_letter)

    def _sign_of(self, character: str) -> str:
        return character if character in self._signs else ""

    def _representative(self, character: str, sign: str, letters: tuple[bool, ...]) -> str:
        """The first character seen that lies in the same sets and is the same sign or letter."""
        if is_ambiguous(character):
            return AMBIGUOUS
        sets = tuple(found.fullmatch(character) is not None for found in self._sets)
        return self._representatives.setdefault((sets, sign, letters), character)


def shorten_runs(shape: str, offsets: Sequence[int] = ()) -> tuple[str, list[int]]:
    """`shape` with its long runs cut to four characters: the first one and the last three.

    >>> shorten_runs("baaaaaab", [1, 2, 7, 8])
    ('baaaab', [1, -1, 5, 6])

    Args:
        shape: of any text.
        offsets: offsets into `shape`.

    Returns:
        The shorter shape, and the offsets in it; -1 for those inside what was cut out.
    """
    runs = [(run.start() + 1, run.end() - 3) for run in _LONG_RUN.finditer(shape)]
    if not runs:
        return shape, list(offsets)
    moved = [
        -1
        if any(a <= offset <= b for a, b in runs)
        else offset - sum(b - a for a, b in runs if b < offset)
        for offset in offsets
    ]
    return _LONG_RUN.sub(lambda run: run[1] * 4, shape), moved
