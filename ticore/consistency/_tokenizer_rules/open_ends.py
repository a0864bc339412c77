"""Which texts are split alike, whatever follows them.

The end of a text is *open*: what follows may move its boundaries. Of the open end only that matters
which the steps of the pretokenizer still try there (`expressions.open_matches`). With GPT-2's
expression the texts "the house" and "a b" have the same open end, a space with letters. Both go on
with letters, or end:

    the| house|...      a| b|...         before a sign
    the| houses...      a| bs...         before a letter

A text is read as a chain of segments for each step. Up to the last one that is settled, boundaries
are fixed. Then there are three cases.

1. Nothing is left: all was settled.
2. No match begins in the rest: it is a gap that goes on.
3. A match begins where the rest begins, and is open. It ends in one of a few places.

In case 3 the last step is asked what it does with the text after each of these places. Steps before
it hand on the rest: the next step reads a text that ends in the same way. Where that is not enough,
the key is the text itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from ..._support.caches import cached_method
from .expressions.open_matches import Ways, possible_ends
from .pretokenizer_step import Step, split_whole

_CACHED_TEXTS = 1 << 12
_MOST_SPLITS = 8  # of one open end; known expressions have up to four

Distances = tuple[int, ...]
"""Boundaries, counted in characters from the end of the text."""


class OpenEnd(NamedTuple):
    """How a text is split if something follows.

    Attributes:
        key: equal for texts that are split alike after `settled`, whatever follows.
        settled: the boundaries that are the same whatever follows, from left to right.
        splits: the other boundaries that may come together, perhaps too many of them: what follows
            selects one split. With the distance 0 the text is split at its end. None if they are
            not known.
    """

    key: Hashable
    settled: Distances = ()
    splits: tuple[Distances, ...] | None = ((),)


_ENDS_HERE_OR_LATER = ((), (0,))


class OpenEnds:
    """Reads the open ends of texts.

    Args:
        steps: of the pretokenizer.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        matches = [step.open_match() for step in steps if step.splits_everywhere]
        self._matches = [match for match in matches if match is not None]
        self._is_readable = len(self._matches) == len(steps)

    def of(self, text: str) -> OpenEnd:
        """The open end of `text`. Texts of one shape have the same."""
        return self._read(text, 0) if self._is_readable else OpenEnd(text, (), None)

    @cached_method(_CACHED_TEXTS)
    def _read(self, text: str, level: int) -> OpenEnd:
        """The open end of a text that the steps from `level` on split."""
        size, start, at = len(text), 0, 0
        settled, ways = list[int](), Ways()
        while at < size:
            ways = self._matches[level](text, at)
            if not ways:
                at += 1
                continue
            first = ways[0]
            if not isinstance(first, int):
                break
            end = size - first
            settled += self._inside(text, start, at, level) + self._inside(text, at, end, level)
            start = at = end
        rest = text[start:]
        if not rest:
            return OpenEnd("", tuple(settled))
        found = None
        if at == size:
            found = self._at_next(rest, (), level)
        elif at == start and isinstance(ways[-1], int):  # else it may be that no match begins here
            inside = [at for at in sorted(possible_ends(ways)) if 0 < at < len(rest)]
            if not inside:
                found = self._at_next(rest, ways, level)
            elif level + 1 == len(self._steps):
                found = self._after_each(text, inside, ways, level)
        if found is None or found.splits is None or len(found.splits) > _MOST_SPLITS:
            return OpenEnd((level, rest), tuple(settled), None)
        return found._replace(settled=(*settled, *found.settled))

    def _inside(self, text: str, start: int, end: int, level: int) -> list[int]:
        """The boundaries in a whole segment of the step `level`, and at its end."""
        ends = split_whole(self._steps[level + 1 :], text[start:end])
        return [len(text) - start - at for at in ends]

    def _at_next(self, rest: str, ways: Ways, level: int) -> OpenEnd:
        """Cases 2 and 3, where the segment goes on at least up to the end of the text."""
        if level + 1 == len(self._steps):
            return OpenEnd(ways, (), _ENDS_HERE_OR_LATER)
        found = self._read(rest, level + 1)
        return found._replace(key=(ways, found.key))

    def _after_each(self, text: str, inside: Sequence[int], ways: Ways, level: int) -> OpenEnd:
        """Case 3 of the last step, where the match may end at some distances `inside` the text."""
        key, splits = list[Hashable]([ways]), [*_ENDS_HERE_OR_LATER]
        for distance in inside:
            after = self._read(text[len(text) - distance :], level)
            if after.splits is None:
                return OpenEnd("", (), None)
            key.append((distance, after.settled, after.key))
            splits += [(distance, *after.settled, *split) for split in after.splits]
        return OpenEnd(tuple(key), (), tuple(splits))
