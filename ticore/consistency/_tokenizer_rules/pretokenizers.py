"""How a text is split into parts, and which of the boundaries are settled.

Text that is appended can move a boundary that stood before. A run of spaces loses its last space to
the word that follows; an apostrophe becomes part of a contraction. A boundary that no appended text
moves is *settled*. To find out, the expression is run over the text, and it is noticed whether it
asks for more than there is (`expressions.matching`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import pairwise, product
from operator import methodcaller
from typing import NamedTuple

import regex

from ..._support.caches import cached_method
from ...interfaces import Split
from .._engines.base import Unsupported
from .expressions.classes import AMBIGUOUS, CharacterClasses, is_ambiguous
from .expressions.matching import Matcher
from .expressions.neighbours import forms_runs, looks_far, matched_alone, places_of
from .expressions.syntax import Chars, Node, Repeat, parse, to_regex

__all__ = [
    "CL100K",
    "GPT2",
    "O200K",
    "QWEN2",
    "WELL_KNOWN",
    "WORDS",
    "Splitter",
    "is_ambiguous",
    "splitter_for",
]

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

WELL_KNOWN = frozenset({GPT2, CL100K, QWEN2, O200K})

WORDS = " [^ ]*"  # Metaspace's: a text is split before every space

_END_OF = methodcaller("end")
_MOST_DOUBTFUL = 2  # characters; each one more makes the readings ten times as many
_MOST_CLASSES = 64


class _Segment(NamedTuple):
    """A match, or the text between two matches."""

    start: int
    end: int
    is_match: bool


class _Boundary(NamedTuple):
    """A settled boundary.

    Attributes:
        restarts: the text after it is split as if it stood alone.
    """

    at: int
    restarts: bool


class _Step:
    """One step of a pretokenizer."""

    def __init__(self, split: Split) -> None:
        self.node: Node = parse(split.expression, split.dialect)
        if places_of(self.node).nullable:
            raise Unsupported(f"the pretokenizer's expression {split.expression!r} matches nothing")
        self._expression = regex.compile(to_regex(self.node))
        self._matcher = Matcher(self.node)
        self._behavior = split.behavior
        self._inverted = split.inverted
        # A match of one set, `[...]+`, can be cut anywhere: the rest is a match again. A match of
        # one character cannot be cut at all.
        self.can_be_cut = isinstance(self.node, Chars) or (
            isinstance(self.node, Repeat) and self.node.least == 1 and self.node.most in (None, 1)
        )
        # Where one set is repeated, `[...]+` or `[...]{1,3}`, a match begins at each character of
        # the set that is in no match yet, whatever follows.
        self._is_run = isinstance(self.node, Repeat) and self.node.least == 1

    def segments(self, text: str) -> list[_Segment]:
        """The segments of a whole text."""
        found, at = [], 0
        for match in self._expression.finditer(text):
            start, end = match.span()
            if start > at:
                found.append(_Segment(at, start, False))
            found.append(_Segment(start, end, True))
            at = end
        if at < len(text):
            found.append(_Segment(at, len(text), False))
        return found

    def settled_segments(self, text: str) -> tuple[list[_Segment], int]:
        """The segments that are the same whatever is appended to a text, and where they end.

        The last one, if it is no match or a run, may be longer.
        """
        found, at, gap = list[_Segment](), 0, 0
        while at < len(text):
            end, is_open = self._matcher.match(text, at)
            if is_open and not self._is_run:
                break
            if end is None:
                at += 1
                continue
            if at > gap:
                found.append(_Segment(gap, at, False))
            found.append(_Segment(at, end, True))
            at = gap = end
        if at > gap:
            found.append(_Segment(gap, at, False))
        return found, at

    def is_boundary(self, before: bool, after: bool) -> bool:
        """Whether the text is split between two segments: is each a match?"""
        before, after = before != self._inverted, after != self._inverted
        match self._behavior:
            case "merged_with_previous":
                return before or not after
            case "merged_with_next":
                return after or not before
            case "contiguous":
                return before != after
        return True

    def boundaries(self, segments: Sequence[_Segment]) -> list[int]:
        """Where a text is split, given its segments, without its two ends."""
        return [b.start for a, b in pairwise(segments) if self.is_boundary(a.is_match, b.is_match)]

    def ends(self, text: str) -> list[int]:
        """Where the parts of a whole text end."""
        if not text:
            return []
        return [*self.boundaries(self.segments(text)), len(text)]

    def may_drop(self, classes: CharacterClasses) -> bool:
        """Whether some text is dropped."""
        if self._behavior != "removed":
            return False
        return not self._inverted or any(
            not matched_alone(self.node, _is_member, c) for c in classes.members_with_letters
        )

    def joined(self, classes: Sequence[str]) -> set[str]:
        """Pairs of characters that this step may leave in one part; perhaps too many."""
        places = places_of(self.node)
        members = [[c for c in classes if _is_member(p.source, c)] for p in places.all]
        found = {a + b for p, q in places.follow for a in members[p] for b in members[q]}
        between = [c for c in classes if not matched_alone(self.node, _is_member, c)]
        firsts = {c for p in places.first for c in members[p]}
        lasts = {c for p in places.last for c in members[p]}
        found |= {a + b for a, b in product(between, between)}
        if not self.is_boundary(before=True, after=True):
            found |= {a + b for a, b in product(lasts, firsts)}
        if not self.is_boundary(before=True, after=False):
            found |= {a + b for a, b in product(lasts, between)}
        if not self.is_boundary(before=False, after=True):
            found |= {a + b for a, b in product(between, firsts)}
        return found


@cache
def _is_member(source: str, character: str) -> bool:
    return regex.compile(source).fullmatch(character) is not None


@cache
def splitter_for(steps: tuple[str | Split, ...]) -> Splitter:
    """The one `Splitter` of a pretokenizer, so that every tokenizer uses what it has learned."""
    return Splitter(steps)


class Splitter:
    """Splits texts as one pretokenizer does. Thread-safe.

    Args:
        steps: those of a TokenizerStructure, or one expression.

    Attributes:
        steps: as given.
        classes: of the characters that the expressions tell apart.

    Raises:
        Unsupported: an expression is not understood, text is dropped, or there is no step.
    """

    def __init__(self, steps: str | tuple[str | Split, ...]) -> None:
        self.steps = (steps,) if isinstance(steps, str) else tuple(steps)
        if not self.steps:
            raise Unsupported("there is no pretokenizer")
        self._steps = [_Step(Split(s) if isinstance(s, str) else s) for s in self.steps]
        nodes = [step.node for step in self._steps]
        self.classes = CharacterClasses(nodes)
        if len(self.classes.members_with_letters) > _MOST_CLASSES:
            raise Unsupported(
                f"the pretokenizer tells more than {_MOST_CLASSES} classes of characters apart"
            )
        for step, split in zip(self._steps, self.steps, strict=True):
            if step.may_drop(self.classes):
                raise Unsupported(f"the pretokenizer drops text: its step {split!r}")
        self._single = self._steps[0] if len(self._steps) == 1 else None
        # Where every text is covered by matches, the ends of matches are all there is to know.
        self._covering = (
            self._single is not None
            and self._single.is_boundary(before=True, after=True)
            and all(matched_alone(nodes[0], _is_member, c) for c in self.members_with_letters)
        )
        self._expression = regex.compile(to_regex(nodes[0]))

    @property
    def members(self) -> list[str]:
        """One character of each class; letters of contractions are not told apart."""
        return self.classes.members

    @property
    def members_with_letters(self) -> list[str]:
        """One character of each class."""
        return self.classes.members_with_letters

    @cached_property
    def restarts(self) -> bool:
        """Whether the text after any boundary is split as if it stood alone."""
        return all(step.can_be_cut for step in self._steps[:-1])

    @cached_property
    def looks_one_ahead(self) -> bool:
        """Whether a boundary between two classes that are never joined settles all before it.

        So it is if the text after it is split as if it stood alone, and nothing is looked at beyond
        the first character after a match.
        """
        return self.restarts and not any(looks_far(step.node) for step in self._steps)

    @cached_property
    def joined(self) -> frozenset[str]:
        """The pairs of neighbours, by their classes, that a part may hold; perhaps too many."""
        members = self.members_with_letters
        found = (step.joined(members) for step in self._steps)
        return frozenset(set.intersection(*found))

    @cached_method(1 << 10)
    def forms_runs(self, member: str) -> bool:
        """Whether a long run of a class is never split inside, but near its two ends."""
        if member.isnumeric():  # digits are often counted, and never many
            return False
        return all(forms_runs(step.node, _is_member, member) for step in self._steps)

    def ends(self, text: str) -> Iterator[int]:
        """The offsets where the parts of `text` end. Each part begins where the one before ends."""
        if self._covering:
            return map(_END_OF, self._expression.finditer(text))
        return iter(self._ends(text, 0))

    def _ends(self, text: str, level: int) -> list[int]:
        found = self._steps[level].ends(text)
        if level + 1 == len(self._steps):
            return found
        deeper, start = list[int](), 0
        for end in found:
            deeper += [start + at for at in self._ends(text[start:end], level + 1)]
            start = end
        return deeper

    def settled(self, text: str) -> list[int]:
        """The boundaries inside `text` that no appended text moves, the last one first.

        Only those after which the text is split as if it stood alone. They are the same for every
        kind of character that an ambiguous one may be taken for. In a text with more than two
        ambiguous characters no boundary counts as settled.
        """
        shape = self.classes.shape(text)
        if AMBIGUOUS not in shape:
            return self.settled_in_shape(shape)
        places = [at for at, c in enumerate(shape) if c == AMBIGUOUS]
        if len(places) > _MOST_DOUBTFUL:
            return []
        found: list[set[int]] = []
        # What this Python takes them for is one reading; they may be in sets of single characters.
        kinds = [[text[at], *self.classes.readings] for at in places]
        for reading in product(*kinds):
            characters = list(text)
            for at, character in zip(places, reading, strict=True):
                characters[at] = character
            read = list(self.classes.shape("".join(characters)))
            for at, character in zip(places, reading, strict=True):
                if read[at] == AMBIGUOUS:
                    read[at] = character
            found.append(set(self.settled_in_shape("".join(read))))
        return sorted(set.intersection(*found), reverse=True)

    @cached_method(1 << 14)
    def settled_in_shape(self, shape: str) -> list[int]:
        """`settled` of a text with this shape."""
        found = self._settled(shape, 0)
        return [boundary.at for boundary in reversed(found) if boundary.restarts]

    def _settled(self, text: str, level: int) -> list[_Boundary]:
        """The settled boundaries that the steps from `level` on make in an unfinished text."""
        step = self._steps[level]
        segments, known = step.settled_segments(text)
        found = step.boundaries(segments)
        # A boundary between the last segment and what follows, if it is one in any case.
        if segments and known < len(text) and segments[-1].end == known:
            last = segments[-1].is_match
            if last and all(step.is_boundary(last, after) for after in (True, False)):
                found.append(known)
        if level + 1 == len(self._steps):
            return [_Boundary(at, True) for at in found]
        inner, start = list[_Boundary](), 0
        for end in found:
            inner += self._inside(text[start:end], start, level + 1)
            inner.append(_Boundary(end, True))
            start = end
        for boundary in self._settled(text[start:known], level + 1):
            inner.append(_Boundary(start + boundary.at, boundary.restarts))
        return [self._restarting(boundary, set(found), segments, step) for boundary in inner]

    def _inside(self, text: str, start: int, level: int) -> list[_Boundary]:
        """The boundaries that the steps from `level` on make inside a whole part."""
        step = self._steps[level]
        segments = step.segments(text)
        found = step.boundaries(segments)
        if level + 1 == len(self._steps):
            return [_Boundary(start + at, True) for at in found]
        inner, at = list[_Boundary](), 0
        for end in [*found, len(text)]:
            inner += self._inside(text[at:end], at, level + 1)
            if end < len(text):
                inner.append(_Boundary(end, True))
            at = end
        found_here = set(found)
        return [
            self._restarting(boundary, found_here, segments, step)._replace(at=start + boundary.at)
            for boundary in inner
        ]

    def _restarting(
        self, boundary: _Boundary, found: set[int], segments: Sequence[_Segment], step: _Step
    ) -> _Boundary:
        """A boundary with whether `step`, too, splits the text after it as if it stood alone.

        It does at its own boundaries, between matches, and inside a match of one set.
        """
        at, restarts = boundary
        if not restarts or at in found:
            return boundary
        inside = any(s.start < at < s.end and s.is_match for s in segments)
        return boundary if not inside or step.can_be_cut else _Boundary(at, False)
