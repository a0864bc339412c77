"""Whether a tokenizer's normalizer leaves a text as it is, decided where two texts meet.

The tokens of a list spell its text. So a list is not consistent if the normalizer changes the text.
A normalizer changes single characters, or a character together with those before it. Characters of
the second kind *join*. Example: in NFC U+0301, the acute accent, joins an "e" before it.
`normalizer_steps` says for which sequences of normalizers this is all that matters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from string import ascii_lowercase, digits

import regex

from ..._support.caches import cached_method
from ..._support.utf8 import character_length
from ...interfaces import TokenizerStructure
from .._modes import AFTER_SPACE, CONTINUATIONS, Mode
from .._unsupported import Unsupported
from .characters import combining, is_assigned, is_doubtful
from .clusters import Clusters
from .normalizer_steps import (
    BY_CHARACTER,
    DECOMPOSING,
    FORMS,
    LONGEST_REPLACED,
    STEPS,
    require_local,
)

# Metaspace changes the beginning of a text only: a space there stands for the dummy prefix.
METASPACE = "metaspace"
_IDLE = frozenset({"identity", METASPACE})
# Lists of replacements of SentencePiece, which hold the same sequences as the normal form KC does.
_LISTS = frozenset({"nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"})
# Replaces texts of its own, from left to right, the longest first. It changes a text if and only if
# one of them is in it.
_MAP = "character_map"
CLUSTERS = "clusters"
_BATCH = 256  # texts
# The most frequent characters. Most normalizers change their case only.
_PLAIN = ascii_lowercase + digits
_NEUTRAL = "|"  # nothing joins it, and it joins nothing; a space between two is not at an end
_HIGHEST_CLASS = 240  # of U+0345; that of U+0334 is 1, the lowest
# SentencePiece replaces sequences of up to 4 characters; models may have longer ones. At the end of
# a text that is left as it is, at most one character less can be the beginning of such a sequence.
_LONGEST_REPLACED = 32
# A normal form of Unicode composes the first and the last of these characters, across the second.
# A list of replacements does not.
_ACROSS_A_MARK, _COMPOSED = "o\u0316\u0301", "ó\u0316"


_FOLLOWING = frozenset("".join((*CONTINUATIONS, AFTER_SPACE)))


def require_known(structure: TokenizerStructure, mode: Mode = "prefix") -> None:
    """Refuse a structure whose normalizer is not known here.

    Args:
        structure: of a tokenizer.
        mode: in which lists are verified.

    Raises:
        Unsupported: for such a structure.
    """
    name, replacements = structure.normalizer, structure.replacements
    steps = _steps(structure)
    if name == _MAP:
        _require_known_map(structure, mode)
    elif by_clusters(structure):
        if not replacements or any(_NEUTRAL in text for text in replacements):
            raise Unsupported("the clusters that its normalizer changes are not known")
    elif name not in _IDLE | _LISTS:
        if not STEPS.issuperset(steps):
            raise Unsupported(f"the normalizer {name!r} is not one of those known")
        if replacements and "replace" not in steps:
            raise Unsupported(
                f"the normalizer {name!r} replaces texts, at a step that is not named"
            )
        require_local(steps, replacements)
        if mode == "viable" and (found := sorted(_FOLLOWING.intersection("".join(replacements)))):
            raise Unsupported(f"its normalizer replaces {found[0]!r}, which may follow any text")


def _require_known_map(structure: TokenizerStructure, mode: Mode) -> None:
    texts = structure.replacements
    if longest := max((text for text in texts if len(text) > LONGEST_REPLACED), default=""):
        raise Unsupported(f"its normalizer replaces a text of {len(longest)} characters")
    if any(_NEUTRAL in text for text in texts):
        raise Unsupported(f"its normalizer replaces {_NEUTRAL!r}")
    found = sorted(_FOLLOWING.intersection("".join(text[1:] for text in texts)))
    if mode == "viable" and found:
        raise Unsupported(f"its normalizer may replace {found[0]!r} together with what it follows")


def is_metaspace(structure: TokenizerStructure) -> bool:
    """Whether the last step of a normalizer is `METASPACE`."""
    return structure.normalizer.split("+")[-1] == METASPACE


def by_clusters(structure: TokenizerStructure) -> bool:
    """Whether a normalizer changes clusters; see `Clusters`."""
    return _steps(structure) == [CLUSTERS]


def keeps_composed(structure: TokenizerStructure) -> bool:
    """Whether it is certain that a text which a normalizer keeps is still kept in normal form C."""
    return (DECOMPOSING | {BY_CHARACTER, _MAP, CLUSTERS}).isdisjoint(_steps(structure))


def _steps(structure: TokenizerStructure) -> list[str]:
    """The names of a normalizer's steps, without the one that changes nothing inside a text."""
    names = structure.normalizer.split("+")
    return names[:-1] if len(names) > 1 and is_metaspace(structure) else names


class Normalization:
    """The normalizer of one structure. Thread-safe if the structure's `normalize` is.

    Attributes:
        idle: it changes nothing inside a text.
        clusters: those that it changes; None if it works in another way.
    """

    def __init__(self, structure: TokenizerStructure) -> None:
        self._normalize = structure.normalize or (lambda text: text)
        self._squeezes = not structure.keeps_whitespace
        self.idle = structure.normalizer in _IDLE and not self._squeezes
        self.clusters = (
            Clusters(structure.replacements, self.read) if by_clusters(structure) else None
        )
        steps = frozenset(_steps(structure))
        self._is_list = structure.normalizer in _LISTS
        replaced_texts: Iterable[str] = () if self.clusters else structure.replacements
        self._is_normal_form = (
            bool(steps & FORMS)
            if steps <= STEPS | {_MAP} and structure.normalizer not in _LISTS
            else self._normalize(_ACROSS_A_MARK) == _COMPOSED
        )
        self._composes = not steps <= STEPS | {_MAP} or bool(steps & FORMS)
        replaced = frozenset("".join(replaced_texts))
        self._keeps_ascii = replaced.isdisjoint(_PLAIN) and self.read(_PLAIN) == _PLAIN
        self._replaced_after = frozenset("".join(old[1:] for old in replaced_texts))
        self._joining_bytes = frozenset({0x20, *(c.encode()[0] for c in self._replaced_after)})

    @cached_method(1 << 16)
    def keeps(self, text: str) -> bool:
        """Whether `text` stays as it is in the middle of a longer text."""
        # ASCII letters and digits are the most frequent. Most normalizers change their case only.
        if self.idle or (
            self._keeps_ascii and text.isascii() and text.isalnum() and text == text.lower()
        ):
            return True
        if self._squeezes and "  " in text:
            return False
        return self.read(text) == text

    def require_settled(self, text: str) -> None:
        """Refuse a token that the normalizer changes, and may bring back where more marks follow.

        Args:
            text: of a token, which it does not keep.

        Raises:
            Unsupported: only a cluster of the text is changed.
        """
        drops_spaces = self._squeezes and "  " in text
        if self.clusters and not drops_spaces and all(map(self.keeps, text)):
            raise Unsupported(
                f"its normalizer changes the token {text!a}, unless more marks follow"
            )

    def read(self, text: str) -> str:
        """What the normalizer makes of `text` in the middle of a longer text."""
        return self._normalize(_NEUTRAL + text + _NEUTRAL)[1:-1]

    def keeps_each(self, texts: Sequence[str]) -> list[bool]:
        """`keeps` of each of many texts; a normal form is asked about hundreds at a time."""
        if self.idle:
            return [True] * len(texts)
        if self._squeezes or not self._is_normal_form:
            return [self.keeps(text) for text in texts]
        batches = (texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH))
        return [kept for batch in batches for kept in self._kept_by_normal_form(batch)]

    def _kept_by_normal_form(self, texts: Sequence[str]) -> list[bool]:
        """A normal form changes the texts between two neutral characters independently."""
        framed = _NEUTRAL + _NEUTRAL.join(texts) + _NEUTRAL
        if self._normalize(framed) == framed:
            return [True] * len(texts)
        if len(texts) == 1:
            return [False]
        half = len(texts) // 2
        return [*self._kept_by_normal_form(texts[:half]), *self._kept_by_normal_form(texts[half:])]

    def keeps_together(self, texts: Iterable[str]) -> bool:
        """Whether it is certain, from one run of the normalizer, that it `keeps` all of `texts`.

        What stands inside a text in a normal form of Unicode is in that form too. Clusters are
        independent, and so is what SentencePiece's lists replace: nothing in them goes on with a
        neutral character, and nothing that they put for a text is replaced itself.
        """
        joined = _NEUTRAL.join(("", *texts, ""))
        if not self.clusters:
            if self._squeezes and (" " in joined or not self._is_list):
                return False
            if not (self._is_list or self._is_normal_form):
                return False
        return self._normalize(joined) == joined

    @cached_method(1 << 13)
    def joins(self, character: str) -> bool:
        """Whether `character` may be changed together with the characters before it."""
        if self.idle:
            return False
        if self.clusters:
            return self.clusters.extends(character) or (self._squeezes and character == " ")
        return (
            character in self._replaced_after
            or (self._squeezes and character == " ")
            # To a newer library a doubtful character may be a combining mark.
            or (self._composes and (character in joining() or is_doubtful(character)))
        )

    def holds_context(self, text: str) -> bool:
        """Whether the `context` of any text that ends with `text` is the one of `text`."""
        if self.clusters:
            return self.clusters.holds_context(text)
        return not self.joins(text[0])

    @cached_method(1 << 12)
    def _has_unknown_class(self, character: str) -> bool:
        """Whether the library may not see the combining class that Unicode 14 gives a character.

        Libraries with an older Unicode take its later marks for letters. A mark that is known
        changes places with one of a lower class after it, or of a higher class before it.
        """
        its_class = combining(character)
        if not its_class:
            return is_doubtful(character)
        pair = "\u0345" + character if its_class < _HIGHEST_CLASS else character + "\u0334"
        return self.read(pair) != pair[::-1]

    def head(self, data: bytes) -> str:
        """The joining characters at the beginning of the text that `data` spells."""
        # Of a normal form, the first joining character is U+0300.
        if self.idle or not data or (data[0] < 0xCC and data[0] not in self._joining_bytes):
            return ""
        # The first character of most tokens does not join, so the rest is not decoded.
        if not self.joins(data[:4].decode(errors="replace")[0]):
            return ""
        text = data.decode(errors="replace")
        end = 0
        while end < len(text) and self.joins(text[end]):
            end += 1
        return text[:end]

    def by_head(self, spelled: Sequence[bytes], tokens: Iterable[int]) -> dict[str, list[int]]:
        """The tokens that have a `head`, by it."""
        found: dict[str, list[int]] = {}
        has_head: dict[bytes, bool] = {}  # by the first character of a token
        for token in () if self.idle else tokens:
            data = spelled[token]
            if data and (data[0] >= 0xCC or data[0] in self._joining_bytes):
                first = data[: character_length(data[0]) if data[0] >= 0xC0 else 1]
                if first not in has_head:
                    has_head[first] = bool(self.head(first))
                if has_head[first]:
                    found.setdefault(self.head(data), []).append(token)
        return found

    def context(self, text: str) -> str:
        """A few characters that stand for the end of `text`, which the normalizer leaves as it is.

        Joining characters after them are changed if and only if they are changed after `text`.
        They need not be the last ones of `text`. When a text grows, the context so far followed by
        the new text has the same context as the whole.
        """
        if self.clusters:
            return self.clusters.context(text)
        if self._is_normal_form and not self._replaced_after:
            return context_in_normal_form(text, self._has_unknown_class)
        longest = len(text) if self._is_normal_form else _LONGEST_REPLACED
        start = len(text) - 1
        while start > 0 and self.joins(text[start]) and len(text) - start < longest:
            start -= 1
        return text[max(start, 0) :]


def context_in_normal_form(text: str, is_unknown: Callable[[str], bool]) -> str:
    """The last starter of `text`, and the first mark after it of the class of the last mark.

    A starter is a character of combining class 0, such as a letter; a mark is one of another class.
    These two stand for the starter and all marks after it:

    1. A new mark composes with the starter unless a mark between them blocks it: one of the same
       combining class or a higher one. Example: in "o", U+0313, U+0301 the first mark blocks the
       second, both of class 230.
    2. A new mark changes places with a mark of a higher class. Example: U+0316, of class 220, goes
       before U+0301, of class 230.
    3. In a normal form the classes do not fall from the starter on. So for 1 and 2 alike only the
       class of the last mark matters. The first mark of this class is not blocked itself and has
       not composed, so starter and mark alone are in normal form too.

    Args:
        text: in normal form C or KC.
        is_unknown: whether a character may be a mark of an unknown class. If there is such a
            character after the starter, the result is all from the starter on.
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


# Only marks have a combining class. Unicode promises that neither it nor a decomposition changes.
_MAY_JOIN = regex.compile(r"[\p{M}\p{Decomposition_Type=Canonical}]")


@lru_cache(maxsize=1)
def joining() -> frozenset[str]:
    """The characters of Unicode 14 that a normal form reorders or composes with those before."""
    found = {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}  # Hangul
    # The planes above hold ideographs alone.
    below = "".join(map(chr, (*range(0x80, 0xD800), *range(0xE000, 0x20000))))
    for character in filter(is_assigned, _MAY_JOIN.findall(below)):
        decomposition = unicodedata.decomposition(character)
        if combining(character):
            found.add(character)
        elif decomposition and not decomposition.startswith("<"):
            found.update(chr(int(part, 16)) for part in decomposition.split()[1:])
    return frozenset(found)
