"""Cuts of texts: places where a text can be encoded in two parts, whatever stands around them.

At a *cut*, encode(text) is the ids of what stands before it, followed by encode(the rest). This
holds for all texts that go on after it, and for all that stand before it. Example: GPT-2 cuts
"one two" before " two". (`stable_cuts` finds the cuts of lists of ids.)

The ids before a cut are not always encode(what stands before it): they may depend on the one
character after the cut. Example: GPT-2 cuts "\\n\\nb" before "b", and reads the line ends before it
as two tokens; "\\n\\n" alone is one. So a cut settles ids if the character after it is known.

There are three kinds of cuts:

1. *Between two characters* that no part of the pretokenizer holds together; see
   `Splitter.parted`. If the normalizer composes characters, then between two that are settled.
2. *At an edge of an added token*: each text between two of them is encoded by itself. This kind
   settles the ids on both sides.
3. *Before a space*, for tokenizers without a pretokenizer; see `WordCuts`. It settles both sides
   too. If there is a dummy prefix, it takes the place of this space, see `TextCuts.rest`.

Added tokens decide first, so no cut of the first or third kind may touch one. Two things are not
known where a text goes on, and what depends on them is no cut:

- A text may end with the beginning of an added token. Example: "a<" with the added token "<t>".
- It may begin with the end of one, if more text stands before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from ..._support.caches import BoundedCache
from ...interfaces import Tokenizer, TokenizerStructure
from .._tokenizer_rules.added_tokens import Texts
from .._tokenizer_rules.normalizers import Normalization
from .._tokenizer_rules.pretokenizers import splitter_for
from .._unsupported import Unsupported
from .stable_cuts import WordCuts, require_known
from .tokenizer_parts import spelled_by, structure_of

_IsCut = Callable[[str, int, int, int], bool]
"""`f(text, at, low, high)`: whether a text without added tokens from `low` to `high` has a cut.

`high` is the end of what is known: other text may follow it.
"""

# A cache entry holds its tokenizer, so no other object has the same `id()` meanwhile.
_FOUND: BoundedCache[int, tuple[Tokenizer, TextCuts | str]] = BoundedCache(4)


def text_cuts(tokenizer: Tokenizer) -> TextCuts:
    """The cuts that are exact for this tokenizer; those of the last tokenizers are cached.

    Raises:
        Unsupported: none are known. The text says why.
    """
    _, found = _FOUND.get_once(id(tokenizer), lambda: (tokenizer, _made(tokenizer)))
    if isinstance(found, str):
        raise Unsupported(found)
    return found


def _made(tokenizer: Tokenizer) -> TextCuts | str:
    try:
        return TextCuts(structure_of(tokenizer), spelled_by(tokenizer))
    except Unsupported as why:
        return str(why)


class TextCuts:
    """Finds cuts in texts. Thread-safe.

    Args:
        structure: of the tokenizer.
        spelled: the bytes of every id.

    Raises:
        Unsupported: the cuts of this tokenizer are not known.
    """

    def __init__(self, structure: TokenizerStructure, spelled: Sequence[bytes]) -> None:
        require_known(structure)
        if structure.added_flags:
            raise Unsupported("its added tokens take spaces beside them (lstrip or rstrip)")
        self._added = structure.added_tokens
        self._texts = Texts(self._added)
        self.longest = max(map(len, self._added), default=1) - 1
        self.has_dummy_prefix = structure.dummy_prefix
        self._is_cut: _IsCut
        self._are_words = not structure.pretokenizer
        if structure.pretokenizer:
            self._is_cut = _PartedCuts(structure)
        else:
            words = WordCuts(spelled, self._added)
            self._is_cut = lambda text, at, low, high: (
                text[at] == " " and at + 1 < high and words.splits(text[at - 1], text[at + 1])
            )

    def known(self, text: str, *, from_start: bool = True, to_end: bool = False) -> KnownText:
        """What is certain about a text.

        Args:
            text: a part of a longer text.
            from_start: whether the text begins at a cut, or nothing stands before it.
            to_end: whether nothing follows.
        """
        return KnownText(self, text, from_start=from_start, to_end=to_end)

    def last(self, text: str) -> int:
        """The last cut inside a text that begins at a cut and may go on; 0 if there is none.

        The text before it always gives the same ids.
        """
        known = self.known(text)
        return next((at for at in range(known.high, 0, -1) if known.is_cut(at)), 0)

    def rest(self, text: str, at: int) -> str:
        """What is encoded for the text after a cut: without the space that the dummy prefix is."""
        return text[at + 1 :] if self.has_dummy_prefix and at else text[at:]

    def settles_both_sides(self, known: KnownText, at: int) -> bool:
        """Whether there is a cut before which the text is also encoded as if it ended there."""
        return known.is_edge(at) or (self._are_words and known.is_cut(at))

    def reach(self, text: str) -> int:
        """How many characters at the beginning of `text` an added token before it may take."""
        ends = (n for n in range(min(self.longest, len(text)), 0, -1) if text[:n] in self._ends)
        reach = next(ends, 0)
        inside = len(text) < self.longest and any(text in added[1:-1] for added in self._added)
        return len(text) if inside else reach

    def begun(self, text: str) -> int:
        """How many characters at the end of `text` may be the beginning of an added token."""
        most = min(self.longest, len(text))
        return next((n for n in range(most, 0, -1) if text[-n:] in self._beginnings), 0)

    def added_in(self, text: str) -> list[tuple[int, int]]:
        """Where added tokens stand in a text; they may overlap."""
        return list(self._texts.spans_in(text))

    def is_between(self, text: str, at: int, low: int, high: int) -> bool:
        """Whether there is a cut at `at`, if no added token touches the text from low to high."""
        return self._is_cut(text, at, low, high)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(text[:n] for text in self._added for n in range(1, len(text)))

    @cached_property
    def _ends(self) -> frozenset[str]:
        return frozenset(text[n:] for text in self._added for n in range(1, len(text)))


class KnownText:
    """A text, and what is certain about it whatever stands around it.

    Args:
        cuts: of the tokenizer.
        text, from_start, to_end: as for `TextCuts.known`.

    Attributes:
        text: as given.
        low, high: what is between them is certain.
    """

    def __init__(self, cuts: TextCuts, text: str, *, from_start: bool, to_end: bool) -> None:
        self._cuts, self.text = cuts, text
        found = cuts.added_in(text)
        self.low = 0 if from_start else _first_apart(found, cuts.reach(text))
        # An added token that has begun takes its place before any that begins after it. So what
        # begins before it is certain, and what reaches into it is left out.
        self.high = len(text) if to_end else len(text) - cuts.begun(text)
        self._added = list[tuple[int, int]]()
        for start, end in _leftmost_longest(found, self.low):
            if end > self.high:
                self.high = min(self.high, start)
                break
            self._added.append((start, end))
        self._starts = {start for start, _ in self._added}
        self._ends = {end for _, end in self._added}

    def is_edge(self, at: int) -> bool:
        """Whether an added token certainly begins or ends there, and the text can be cut there."""
        edge = at in self._ends or at in self._starts
        return edge and self.low <= at <= self.high and not self._cuts.has_dummy_prefix

    def is_cut(self, at: int) -> bool:
        """Whether there is certainly a cut inside the text at this place."""
        if self.is_edge(at):
            return True
        # Just after an added token a library may put a space of its own, so `low` is no cut.
        low, high = self._between(at)
        return low < at < high and self._cuts.is_between(self.text, at, low, high)

    def _between(self, at: int) -> tuple[int, int]:
        """The text around a place that holds no added token; empty inside one."""
        low, high = self.low, self.high
        for start, end in self._added:
            if end <= at:
                low = end
            elif start <= at:
                return at, at
            else:
                return low, start
        return low, high


def _first_apart(spans: Sequence[tuple[int, int]], at: int) -> int:
    """The first place from `at` on that none of the spans, in order of their starts, reaches over.

    >>> _first_apart([(0, 3), (2, 5), (5, 8)], 1)
    5
    """
    for start, end in spans:
        if start < at < end:
            at = end
    return at


def _leftmost_longest(spans: Sequence[tuple[int, int]], at: int) -> list[tuple[int, int]]:
    """Of some spans those that are taken from `at` on: the leftmost first, there the longest.

    >>> _leftmost_longest([(0, 2), (0, 3), (2, 5), (3, 4)], 0)
    [(0, 3), (3, 4)]
    """
    found = list[tuple[int, int]]()
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= at:
            found.append((start, end))
            at = end
    return found


class _PartedCuts:
    """Cuts between two characters that the pretokenizer always parts."""

    def __init__(self, structure: TokenizerStructure) -> None:
        self._splitter = splitter_for(structure.pretokenizer)
        self._parted = self._splitter.parted
        if not self._parted:
            raise Unsupported("its pretokenizer parts no two characters in all texts")
        self._adds_space = structure.adds_leading_space
        self._normalization = Normalization(structure)

    def __call__(self, text: str, at: int, low: int, high: int) -> bool:
        before, after = text[at - 1], text[at]
        if self._adds_space and after != " ":
            return False
        if not self._normalization.idle:
            if (found := self._normalized(text, at, low, high)) is None:
                return False
            before, after = found
        pair = self._splitter.classes.with_letters(before + after)
        return pair in self._parted

    def _normalized(self, text: str, at: int, low: int, high: int) -> tuple[str, str] | None:
        """The characters on the two sides of a place, as the pretokenizer sees them.

        None if they are not certain. A character that does not join the one before it begins a text
        that the normalizer reads by itself (Unicode Standard Annex 15, concatenation).
        """
        joins, read = self._normalization.joins, self._normalization.read
        start, end = at - 1, at + 1
        while start > low and joins(text[start]):
            start -= 1
        while end < high and joins(text[end]):
            end += 1
        if joins(text[at]) or joins(text[start]) or end >= high:
            return None
        before, after = read(text[start:at]), read(text[at:end])
        return (before[-1], after[0]) if before and after else None
