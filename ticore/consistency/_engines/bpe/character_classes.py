"""What the engines for pretokenized text ask about the shapes of texts.

The shape of a text is the text with every character replaced by one of its class; see
`expressions.classes`. A vocabulary of 150,000 tokens has a few hundred shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise, product, takewhile

import numpy as np
import regex

from ...._support.caches import cached_method
from ....interfaces import Split
from ..._tokenizer_rules.characters import completions
from ..._tokenizer_rules.expressions.classes import AMBIGUOUS, kinds_of, runs_of
from ..._tokenizer_rules.pretokenizers import WELL_KNOWN, Splitter, splitter_for

__all__ = ["AMBIGUOUS", "Closing", "Shapes", "shapes_for"]

_CACHED_SHAPES, _CACHED_BEGINNINGS = 1 << 12, 1 << 12  # of one character
# What may follow an apostrophe: half of a contraction is the beginning of a continuation.
_CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")


@cache
def shapes_for(pretokenizer: tuple[str | Split, ...]) -> Shapes:
    """The one `Shapes` of a pretokenizer, so that every tokenizer uses what it has learned."""
    return Shapes(splitter_for(pretokenizer))


class Closing(dict[str, bool]):
    """By the shape of a character, whether it begins a new part after a text of one shape.

    The text before such a character is split as if it ended there. That is computed for a shape
    when it is first asked for; it does not hold for a shape that is not known ("" or `AMBIGUOUS`).

    Args:
        splitter: of the pretokenizer.
        shape: of the text.
        known: what is known of some shapes.
    """

    def __init__(self, splitter: Splitter, shape: str, known: Mapping[str, bool] = {}) -> None:
        super().__init__({"": False, AMBIGUOUS: False, **known})
        self._splitter = splitter
        self._shape = shape

    def __missing__(self, after: str) -> bool:
        ends = list(self._splitter.ends(self._shape))
        found = self._splitter.settled_in_shape(self._shape + after)[::-1] == ends
        self[after] = found
        return found


class Shapes:
    """The shapes of texts under one pretokenizer.

    Args:
        splitter: of the pretokenizer.
    """

    def __init__(self, splitter: Splitter) -> None:
        self._splitter = splitter
        self._classes = splitter.classes
        self._is_well_known = splitter.steps[0] in WELL_KNOWN and len(splitter.steps) == 1
        in_runs = [c for c in splitter.members_with_letters if splitter.forms_runs(c)]
        # What an expression does in a longer run of one character, it does at the run's ends.
        self._long_run = regex.compile(
            f"([{''.join(map(regex.escape, in_runs))}])\\1{{4,}}" if in_runs else r"(?!)(.)"
        )

    def shape(self, text: str, *, near_apostrophe: bool = False) -> str:
        """The shape of `text`, of the same length; see `CharacterClasses.shape`."""
        return self._classes.shape(text, near_apostrophe=near_apostrophe)

    def is_near_apostrophe(self, shape: str) -> bool:
        """Whether the letters right after a text of `shape` may belong to a contraction."""
        return self._classes.is_near_sign(shape)

    @cached_method(_CACHED_BEGINNINGS)
    def completions_by_shape(self, unfinished: bytes) -> Mapping[str, Sequence[bytes]]:
        """The UTF-8 of all characters that begin with `unfinished`, by their shape."""
        by_shape: dict[str, list[bytes]] = {}
        characters = "".join(completions(unfinished))
        for character, shape in zip(characters, self._shape_each(characters), strict=True):
            by_shape.setdefault(shape, []).append(character.encode())
        return by_shape

    def _shape_each(self, characters: str) -> list[str]:
        """The shape of each of many assigned characters, found a run at a time."""
        runs = [runs_of(source, characters) for source in self._classes.sources]
        kinds = kinds_of(len(characters), runs)
        _, firsts, class_of = np.unique(kinds, return_index=True, return_inverse=True)
        shapes = [self.shape(characters[at]) for at in firsts.tolist()]
        return [
            AMBIGUOUS if self._classes.is_ambiguous(character) else shapes[n]
            for n, character in zip(class_of.tolist(), characters, strict=True)
        ]

    def is_always_split(self, shape: str) -> bool:
        """Whether every text of this shape is split somewhere inside, whatever stands around it.

        Then no part holds such a text, and a token that spells it is never canonical.
        """
        joined = self._splitter.joined
        return any(
            a + b not in joined and self._classes.without_letters(a + b) not in joined
            for a, b in pairwise(shape)
        )

    @cached_method(_CACHED_SHAPES)
    def never_joined_after(self, shape: str) -> frozenset[str]:
        """The shapes of characters that never share a part with a character of `shape` before."""
        if shape == AMBIGUOUS:
            return frozenset()
        members = self._splitter.members
        return frozenset(after for after in members if self.is_always_split(shape + after))

    def shorten_runs(self, shape: str, offsets: Sequence[int] = ()) -> tuple[str, list[int]]:
        """`shape` with its long runs cut to four characters: the first one and the last three.

        Example: "baaaaaab" with the offsets 1, 2, 7, 8 becomes "baaaab" with 1, -1, 5, 6.

        Args:
            shape: of any text.
            offsets: offsets into `shape`.

        Returns:
            The shorter shape, and the offsets in it; -1 for those inside what was cut out.
        """
        runs = self._cut_out(shape)
        if not runs:
            return shape, list(offsets)
        moved = [
            -1
            if any(a <= offset <= b for a, b in runs)
            else offset - sum(b - a for a, b in runs if b < offset)
            for offset in offsets
        ]
        return _without(shape, runs), moved

    def settled(self, shape: str) -> list[int]:
        """`Splitter.settled_in_shape`, computed for the shape with short runs; few exist."""
        runs = self._cut_out(shape)
        if not runs:
            return self._splitter.settled_in_shape(shape)
        found, removed = self._splitter.settled_in_shape(_without(shape, runs)), 0
        for a, b in runs:
            if a - removed in found:  # before or after what was cut out?
                return self._splitter.settled_in_shape(shape)
            removed += b - a
        for a, b in runs:  # puts back what was cut out, from left to right
            found = [at + b - a if at > a else at for at in found]
        return found

    def _cut_out(self, shape: str) -> list[tuple[int, int]]:
        """What `shorten_runs` leaves out: (start, end) of each."""
        return [(run.start() + 1, run.end() - 3) for run in self._long_run.finditer(shape)]

    @cached_method(_CACHED_SHAPES)
    def closing(self, shape: str) -> Closing:
        """Which characters begin a new part after a text of `shape`."""
        if self._is_well_known:
            return self._closing_alone(shape[-1])
        return Closing(self._splitter, shape)

    @cached_method(_CACHED_SHAPES)
    def _closing_alone(self, last: str) -> Closing:
        """`closing`, where the last character of the shape decides."""
        never = self.never_joined_after(last)
        return Closing(self._splitter, last, {c: c in never for c in self._splitter.members})

    @cached_property
    def continuations_to_try(self) -> tuple[str, ...] | None:
        """A set of texts that shows all effects of a continuation on the text before it.

        Whatever a continuation does to how a text before it is split, one of these does as well. No
        known expression looks further than two characters ahead, except for contractions. None
        where the pretokenizer is not one of those.
        """
        if not self._is_well_known:
            return None
        members = self._splitter.members
        found = {"", *members, *(a + b for a, b in product(members, repeat=2))}
        for text in _CONTRACTIONS:
            rests = {text[n:] for n in range(1, len(text))}
            found |= {cased for rest in rests for cased in (rest, rest.upper())}
            found |= {rest + member for rest in rests for member in members}
        return tuple(sorted(found))

    @cached_method(_CACHED_SHAPES)
    def part_starts(self, shape: str) -> frozenset[int]:
        """Where a part may begin in a text of `shape`, for one continuation or another."""
        if self.continuations_to_try is None:
            return frozenset(range(len(shape)))
        found = {0}
        for following in self.continuations_to_try:
            found.update(takewhile(len(shape).__gt__, self._splitter.ends(shape + following)))
        return frozenset(found)


def _without(shape: str, runs: Sequence[tuple[int, int]]) -> str:
    """`shape` without these runs."""
    kept, at = [], 0
    for start, end in runs:
        kept.append(shape[at:start])
        at = end
    return "".join([*kept, shape[at:]])
