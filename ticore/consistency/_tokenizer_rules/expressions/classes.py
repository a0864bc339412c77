r"""The classes of characters that expressions tell apart, and the shapes of texts.

An expression tells characters apart by the sets that stand in it, and by nothing else. So every
character can be replaced by one representative of its class. What is left is the *shape* of the
text (a "word shape" elsewhere), and it is split where the text is split. With GPT-2's expression:

    " house's"   ->  " AAAAA's"       \p{L} is one class; after an apostrophe the letter counts
    " Straße's"  ->  " AAAAAA's"
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from ...._support import table_cache
from ...._support.caches import BoundedCache, TextTable
from ..._unsupported import Unsupported
from ..characters import is_assigned, is_doubtful
from ..unicode14 import VERSION
from .neighbours import Contractions, contractions_of
from .tree import Node, leaves

AMBIGUOUS = "\ufffe"
"""Stands in a shape for a character whose classes are not the same in all libraries."""

Runs = npt.NDArray[np.int32]

_MOST_SETS = 256
_NUMBER_BITS, _SETS_AT_ONCE = 21, 42  # of an int64: the number of a kind, and one bit for each set

# For each set, sign and letter: "" for a character that is in it, else None.
_Kind = tuple[tuple[str | None, ...], tuple[str | None, ...], tuple[str | None, ...]]

# One character of every general category that ASCII lacks, and one of each kind of white space.
_OTHER_KINDS = (
    "\u01c5\u02b0\u3042\u0301\u0903\u00a0\u3000\u0085\u00b2"
    "\u00e9\u00c9\u20dd\u0660\u2160\u2013\u00ab\u00bb\u2028\u2029\u00ad\ue000\u20ac\u00a8\u00a6\u00b1"
)
# The sample has all classes of sets that are made of ASCII and general categories.
_SCRIPT = regex.compile(r"\\[pP]\{\w{3,}\}")
# Signs that Unicode 14 lacks are like unassigned characters to letters, digits and marks only.
_SEES_SIGNS = regex.compile(r"\\[pP]\{(?![LMN][a-z]?\})")


def is_ambiguous(character: str) -> bool:
    """Whether libraries disagree on whether a character is a letter, digit, mark or space.

    There are three cases: characters that Unicode 14 lacks; U+0295, whose case depends on the
    version of Unicode; and the long s, U+017F, which is an "s" to some libraries that ignore case.
    """
    return character in "\u017f\u0295" or is_doubtful(character)


class CharacterClasses:
    """The classes of some expressions together. Thread-safe.

    Args:
        nodes: the expressions.
        depend_on_unicode: whether libraries may disagree on a set that they hold.

    Attributes:
        sources: the sets that the expressions hold.
        contractions: whose letters count only after a sign; empty where all letters count
            everywhere.
        readings: one character of each class that an ambiguous character may belong to.

    Raises:
        Unsupported: there are too many sets of characters.
    """

    def __init__(self, nodes: Sequence[Node], *, depend_on_unicode: bool = True) -> None:
        self._depend_on_unicode = depend_on_unicode
        self.contractions = _together(nodes)
        letters, signs = self.contractions.letters, self.contractions.signs
        self.sources = sources = sorted({leaf.source for node in nodes for leaf in leaves(node)})
        if len(sources) > _MOST_SETS:
            raise Unsupported(f"the pretokenizer has more than {_MOST_SETS} sets of characters")
        self._sees_signs = any(map(_SEES_SIGNS.search, sources))
        sets = {*sources} - letters - signs
        # One match tells all sets that a character is in, by groups that match nothing.
        in_order = (*sorted(sets), *sorted(signs), *sorted(letters))
        self._members = regex.compile("".join(f"(?:(?={source})())?" for source in in_order)).match
        self._letters_at = len(sets) + len(signs)
        self._signs_at = len(sets)
        self._any_sign = regex.compile("|".join(sorted(signs)) or r"\Z\A.")
        self._representatives: dict[_Kind, str] = {}
        self._is_complete = False
        # ASCII first, so that representatives are ASCII where they can; then the other kinds.
        sample = "".join(map(chr, range(0x80))) + _OTHER_KINDS
        for character in sample:
            self._representatives.setdefault(self._kind_of(character), character)
        # By code point: with the letters of contractions told apart, and without.
        self._with_letters = TextTable(self._find_with_letters)
        self._without_letters = TextTable(self._find_without_letters)
        if not all(_is_plain(source) for source in sources):
            sample += _one_of_each(sources)
        sample.translate(self._with_letters)
        sample.translate(self._without_letters)
        # No ambiguous character is in ASCII; U+017F may be an "s".
        others = "".join(c for c in sample if not c.isascii() or c in "sS")
        self.readings = sorted({*others.translate(self._with_letters)} - {AMBIGUOUS})
        self._is_complete = True

    @property
    def window(self) -> int:
        """How many characters after the sign of a contraction its letters can be."""
        return self.contractions.window

    @property
    def members(self) -> list[str]:
        """The representatives, without the letters of contractions."""
        return sorted(set(self._without_letters.values()) - {AMBIGUOUS})

    @property
    def members_with_letters(self) -> list[str]:
        """The representatives."""
        known = {*self._with_letters.values(), *self._without_letters.values()}
        return sorted(known - {AMBIGUOUS})

    def without_letters(self, text: str) -> str:
        """The shape of `text` if no letter of a contraction counts."""
        return text.translate(self._without_letters)

    def with_letters(self, text: str) -> str:
        """The shape of `text` if all letters of contractions count."""
        return text.translate(self._with_letters)

    def shape(self, text: str, *, near_apostrophe: bool = False) -> str:
        """The shape of `text`, of the same length.

        Args:
            text: any text.
            near_apostrophe: one of the last `window` characters before `text` may be the sign of a
                contraction.
        """
        without_letters = text.translate(self._without_letters)
        window = self.contractions.window
        if not window:
            return without_letters
        sign = self._any_sign.search(text)
        if sign is None and not near_apostrophe:
            return without_letters
        if sign is None:
            return text[:window].translate(self._with_letters) + without_letters[window:]
        with_letters = text.translate(self._with_letters)
        shape = list(without_letters)
        if near_apostrophe:
            shape[:window] = with_letters[:window]
        while sign is not None:
            at = sign.start()
            if (
                self.contractions.only
                and at + 1 < len(text)
                and with_letters[at + 1] == without_letters[at + 1]
            ):
                shape[at] = self._plain(text[at])  # no contraction begins here
            else:
                shape[at + 1 : at + 1 + window] = with_letters[at + 1 : at + 1 + window]
            sign = self._any_sign.search(text, at + 1)
        return "".join(shape)

    def is_ambiguous(self, character: str) -> bool:
        """Whether libraries disagree on the class of a character."""
        return self._depend_on_unicode and (
            is_ambiguous(character) or (self._sees_signs and not is_assigned(character))
        )

    def is_near_sign(self, shape: str) -> bool:
        """Whether the sign of a contraction is one of the last `window` characters of a shape."""
        window = self.contractions.window
        return bool(window) and self._any_sign.search(shape[-window:]) is not None

    def _find_with_letters(self, code: int) -> str:
        character = chr(code)
        if self.is_ambiguous(character):
            return AMBIGUOUS
        return self._representative(character, self._kind_of(character))

    def _find_without_letters(self, code: int) -> str:
        character = chr(code)
        if self.is_ambiguous(character):
            return AMBIGUOUS
        sets, signs, letters = kind = self._kind_of(character)
        none = (None,) * len(letters)
        if letters != none:
            plain = self._representatives.get((sets, signs, none))
            if plain:
                return plain
        return self._representative(character, kind)

    def _plain(self, sign: str) -> str:
        """The representative of a sign where it begins no contraction."""
        sets, signs, letters = self._kind_of(sign)
        return self._representatives.get((sets, (None,) * len(signs), letters), sign)

    def _representative(self, character: str, kind: _Kind) -> str:
        """The first character known that lies in the same sets, which are those of `kind`."""
        if self._is_complete:  # what is read off the classes counts on knowing all of them
            return self._representatives.get(kind, AMBIGUOUS)
        return self._representatives.setdefault(kind, character)

    def _kind_of(self, character: str) -> _Kind:
        match = self._members(character)
        assert match is not None  # every group is optional
        found = match.groups()
        signs, letters = self._signs_at, self._letters_at
        return found[:signs], found[signs:letters], found[letters:]


def _is_plain(source: str) -> bool:
    return source.isascii() and _SCRIPT.search(source) is None


def _one_of_each(sources: Collection[str]) -> str:
    """One character of each class that the sets in `sources` tell apart, of all of Unicode.

    To look at all of Unicode takes long, so what is found is cached on disk.
    """
    sets = sha256(json.dumps(sorted(sources)).encode()).hexdigest()[:32]
    name = f"classes-{sets}-{VERSION}-{regex.__version__}"
    stored = table_cache.load_unpacked(name, lambda arrays: _characters(arrays["sample"]))
    if stored is None:
        stored = "".join(_find_one_of_each(sources))
        table_cache.save(name, {"sample": np.array(list(map(ord, stored)), dtype=np.int32)})
    return stored


def _characters(sample: npt.NDArray[Any]) -> str:
    return "".join(map(chr, sample.tolist()))


def _find_one_of_each(sources: Collection[str]) -> Iterator[str]:
    codes = np.arange(0x110000, dtype="<u4")
    characters = codes[(codes < 0xD800) | (codes >= 0xE000)].tobytes().decode("utf-32-le")
    runs = [_RUNS.get(one, partial(runs_of, one, characters)) for one in sorted(sources)]
    kinds = kinds_of(len(characters), runs)
    for kind in range(kinds.max() + 1):
        members = map(characters.__getitem__, np.flatnonzero(kinds == kind))
        yield from islice(filter(is_assigned, members), 2)  # U+017F or U+0295, then another one


# Of each set in the string of all characters. Pretokenizers share most of their sets.
_RUNS: BoundedCache[str, Runs] = BoundedCache(_MOST_SETS)


def runs_of(source: str, characters: str) -> Runs:
    """Where the runs of a set begin and end: int32[runs, 2].

    Args:
        source: of the set.
        characters: where they are looked for.
    """
    matches = regex.finditer(f"(?:{source})+", characters)
    return np.array([match.span() for match in matches], dtype=np.int32).reshape(-1, 2)


def kinds_of(count: int, sets: Sequence[Runs]) -> npt.NDArray[np.int64]:
    """Numbers from 0 on, the same for characters that lie in the same sets: int64[count].

    Args:
        count: of characters.
        sets: the runs of each set in them.
    """
    # Between two neighbouring borders all characters lie in the same sets.
    borders = np.unique(np.concatenate([(0, count), *(runs.ravel() for runs in sets)]))
    kinds = np.zeros(len(borders) - 1, dtype=np.int64)
    for first in range(0, len(sets), _SETS_AT_ONCE):
        for n, runs in enumerate(sets[first : first + _SETS_AT_ONCE]):
            is_inside = np.searchsorted(runs.ravel(), borders[:-1], side="right") % 2
            kinds |= is_inside << n + _NUMBER_BITS
        kinds = np.unique(kinds, return_inverse=True)[1]
    return np.repeat(kinds, np.diff(borders))


def _together(nodes: Sequence[Node]) -> Contractions:
    """The contractions of several expressions, where all of them have some or none."""
    known = [found for node in nodes if (found := contractions_of(node)) is not None]
    if len(known) < len(nodes):
        return Contractions()
    signs = frozenset[str]().union(*(one.signs for one in known))
    return Contractions(
        letters=frozenset().union(*(one.letters for one in known)),
        signs=signs,
        window=max((one.window for one in known), default=0),
        # In another expression the sign of a contraction may be a sign of its own.
        only=all(
            one.only and signs.isdisjoint({leaf.source for leaf in leaves(node)} - one.signs)
            for node, one in zip(nodes, known, strict=True)
        ),
    )
