"""One step of a pretokenizer: an expression, and what becomes of its matches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import pairwise, product
from typing import NamedTuple

import regex

from ...interfaces import Split
from .._unsupported import Unsupported
from .byte_steps import is_boundary
from .expressions.classes import CharacterClasses
from .expressions.matching import Matcher
from .expressions.neighbours import (
    back_reach,
    forms_runs,
    looked_back_at,
    matched_alone,
    places_of,
)
from .expressions.open_matches import OpenMatch, open_match
from .expressions.tree import Chars, Look, Node, Repeat, to_regex, walk


class Segment(NamedTuple):
    """A match, or the text between two matches."""

    start: int
    end: int
    is_match: bool


class Step:
    """One step of a pretokenizer.

    Args:
        split: what the step does.
        node: its expression.

    Attributes:
        split, node: as given.
        depends_on_unicode: whether libraries may disagree on a set of the expression.
        drops_beginnings: whether the beginnings of some texts are dropped.
        can_be_cut: whether the rest of a match, cut anywhere, is a match.

    Raises:
        Unsupported: the expression matches nothing.
    """

    depends_on_unicode = True
    drops_beginnings = False

    def __init__(self, split: Split, node: Node) -> None:
        self.node = node
        self._places = places_of(node)
        if self._places.nullable:
            raise Unsupported(f"the pretokenizer's expression {split.expression!r} matches nothing")
        self.split = split
        self._looked_back_at, self._reach = looked_back_at(node), back_reach(node)
        self._expression = regex.compile(to_regex(self.node))
        self._matcher = Matcher(self.node)
        # A match of one set, `[...]+`, can be cut anywhere: the rest is a match again. A match of
        # one character cannot be cut at all.
        self.can_be_cut = isinstance(self.node, Chars) or (
            isinstance(self.node, Repeat) and self.node.least == 1 and self.node.most in (None, 1)
        )
        # Where one set is repeated, `[...]+` or `[...]{1,3}`, a match begins at each character of
        # the set that is in no match yet, whatever follows.
        self._is_run = isinstance(self.node, Repeat) and self.node.least == 1

    def segments(self, text: str) -> list[Segment]:
        """The segments of a whole text."""
        found, at = [], 0
        for match in self._expression.finditer(text):
            start, end = match.span()
            if start > at:
                found.append(Segment(at, start, False))
            found.append(Segment(start, end, True))
            at = end
        if at < len(text):
            found.append(Segment(at, len(text), False))
        return found

    def settled_segments(self, text: str) -> tuple[list[Segment], int]:
        """The segments that are the same whatever is appended to a text, and where they end.

        The last one, if it is no match or a run, may be longer.
        """
        found, at, gap = list[Segment](), 0, 0
        while at < len(text):
            end, is_open = self._matcher.match(text, at)
            if is_open and not self._is_run:
                break
            if end is None:
                at += 1
                continue
            if at > gap:
                found.append(Segment(gap, at, False))
            found.append(Segment(at, end, True))
            at = gap = end
        if at > gap:
            found.append(Segment(gap, at, False))
        return found, at

    def is_boundary(self, before: bool, after: bool) -> bool:
        """Whether the text is split between two segments: is each a match?"""
        return is_boundary(self.split, before, after)

    @cached_property
    def splits_everywhere(self) -> bool:
        """Whether the text is split wherever a match begins or ends."""
        kinds = ((True, True), (True, False), (False, True))
        return all(self.is_boundary(before, after) for before, after in kinds)

    @property
    def looks_back(self) -> bool:
        """Whether the expression looks at what stands before a match."""
        return bool(self._looked_back_at)

    @cached_property
    def looks_ahead(self) -> bool:
        """Whether the expression looks at characters after a match."""
        return any(isinstance(part, Look) for part in walk(self.node))

    def restarts(self, text: str, at: int, *, is_whole: bool) -> bool:
        """Whether matches after a boundary are those of the text after it, standing alone.

        They are if what stands before it is not looked at. Else the tries to match are compared
        that can see it.

        Args:
            text: in which the boundary is.
            at: the boundary.
            is_whole: nothing follows `text`; else anything may.
        """
        if not self.looks_back or not self._is_looked_back_at(text[at - 1]):
            return True
        alone, tried = text[at:], 0
        while tried < min(self._reach, len(alone)):
            found, expected = (
                self._matcher.match(text, at + tried),
                self._matcher.match(alone, tried),
            )
            end = None if found.end is None else found.end - at
            may_change = not is_whole and (found.open or expected.open)
            if end != expected.end or may_change:
                return False
            tried = tried + 1 if end is None else end
        return is_whole or tried >= self._reach

    def _is_looked_back_at(self, character: str) -> bool:
        return any(is_member(source, character) for source in self._looked_back_at)

    def boundaries(self, segments: Sequence[Segment]) -> list[int]:
        """Where a text is split, given its segments, without its two ends."""
        return [b.start for a, b in pairwise(segments) if self.is_boundary(a.is_match, b.is_match)]

    def ends(self, text: str) -> list[int]:
        """Where the parts of a whole text end."""
        if not text:
            return []
        if self.splits_everywhere:
            return self._edges(text)
        return [*self.boundaries(self.segments(text)), len(text)]

    def _edges(self, text: str) -> list[int]:
        """Where the segments of a whole text end, found faster than the segments are."""
        found, at = list[int](), 0
        for match in self._expression.finditer(text):
            start, end = match.span()
            found += [end] if start == at else [start, end]
            at = end
        return found if at == len(text) else [*found, len(text)]

    def open_match(self) -> OpenMatch | None:
        """The ways of a match at the end of a text; see `expressions.open_matches`."""
        return open_match(self.node)

    def forms_runs(self, member: str) -> bool:
        """Whether a long run of a class is never split inside, but near its two ends."""
        return forms_runs(self.node, is_member, member)

    def drops_first(self, character: str) -> bool:
        """Whether a text that begins with `character` loses it, though no match is removed."""
        return False

    def may_drop(self, classes: CharacterClasses) -> bool:
        """Whether some text is dropped."""
        if self.split.behavior != "removed":
            return False
        members = classes.members_with_letters
        if not self.split.inverted:
            return any(map(self._may_begin_with, members))
        return any(not matched_alone(self.node, is_member, c) for c in members)

    def unsure_beginnings(self, classes: Sequence[str]) -> set[str]:
        """Characters of which what follows decides whether they begin a match; perhaps too many."""
        return {
            c
            for c in classes
            if self._may_begin_with(c) and not matched_alone(self.node, is_member, c)
        }

    def _may_begin_with(self, character: str) -> bool:
        """Whether a match may begin with `character`."""
        first = (self._places.all[n].source for n in self._places.first)
        return any(is_member(source, character) for source in first)

    def matched(self, classes: Sequence[str]) -> set[str]:
        """Pairs of characters that a match of this step may hold; perhaps too many."""
        places = self._places
        members = [[c for c in classes if is_member(p.source, c)] for p in places.all]
        return {a + b for p, q in places.follow for a in members[p] for b in members[q]}

    def joined(self, classes: Sequence[str]) -> set[str]:
        """Pairs of characters that this step may leave in one part; perhaps too many."""
        places = self._places
        members = [[c for c in classes if is_member(p.source, c)] for p in places.all]
        found = self.matched(classes)
        between = [c for c in classes if not matched_alone(self.node, is_member, c)]
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


def split_whole(steps: Sequence[Step], text: str) -> list[int]:
    """Where the parts of a whole text end that all `steps` split, one after the other."""
    if not (steps and text):
        return [len(text)] if text else []
    if len(steps) == 1:
        return steps[0].ends(text)
    found, start = list[int](), 0
    for end in steps[0].ends(text):
        found += [start + at for at in split_whole(steps[1:], text[start:end])]
        start = end
    return found


@cache
def is_member(source: str, character: str) -> bool:
    return regex.compile(source).fullmatch(character) is not None
