r"""Which characters can stand side by side in a match, by the places of an expression.

Every set of characters in an expression is a *place*. The places that can come first and last in a
match, and which place can follow which, are read from the tree (Glushkov 1961). Look-arounds are
left out, so more may be found than really happens, and never less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

import regex

from .tree import (
    Atomic,
    Chars,
    Choice,
    End,
    Look,
    LookBack,
    Node,
    Repeat,
    Sequence,
    leaves,
    lengths,
    look_arounds,
    walk,
)

IsMember = Callable[[str, str], bool]
"""`is_member(source, character)`: whether the set `source` holds the character."""

Kind = Literal["single", "loop", "counted", "lazy"]

_LETTERS = regex.compile(r"[A-Za-z]|\[[A-Za-z]+\]")
# A literal sign such as an apostrophe, or a set of such signs.
_SIGNS = regex.compile(r"(?<sign>\\x[0-9a-f]{2}|[^\x00-\x7f])|\[(?&sign)+\]")


@dataclass(frozen=True)
class Place:
    """A set of characters at one place of an expression.

    Attributes:
        source: the set.
        kind: `single` (once, or not at all), `loop` (without a limit), `counted` (with one) or
            `lazy`.
    """

    source: str
    kind: Kind


@dataclass
class Places:
    """The places of an expression, by number.

    Attributes:
        all: the places.
        nullable: whether the expression matches nothing.
        first, last: which may come first and last in a match.
        follow: pairs of places of which the second may come right after the first.
    """

    all: list[Place] = field(default_factory=list)
    nullable: bool = True
    first: set[int] = field(default_factory=set)
    last: set[int] = field(default_factory=set)
    follow: set[tuple[int, int]] = field(default_factory=set)


def places_of(node: Node) -> Places:
    """The places of a tree."""
    found = Places()
    found.nullable, found.first, found.last = _visit(node, found)
    return found


def _visit(node: Node, found: Places) -> tuple[bool, set[int], set[int]]:
    match node:
        case Chars(source):
            return False, *_place(found, Place(source, "single"))
        case Repeat(part, least, most, kind):
            repeats: Kind = (
                "lazy"
                if kind == "lazy"
                else "single"
                if most == 1
                else "loop"
                if most is None and least < 2
                else "counted"
            )
            first, last = _place(found, Place(part.source, repeats))
            if repeats != "single":
                found.follow |= {(a, b) for a in last for b in first}
            return least == 0, first, last
        case Choice(options):
            parts = [_visit(option, found) for option in options]
            return (
                any(nullable for nullable, _, _ in parts),
                set().union(*(first for _, first, _ in parts)),
                set().union(*(last for _, _, last in parts)),
            )
        case Sequence(parts):
            return _visit_sequence(parts, found)
        case Atomic(part):
            return _visit(part, found)
    return True, set(), set()  # look-arounds


def _visit_sequence(parts: tuple[Node, ...], found: Places) -> tuple[bool, set[int], set[int]]:
    nullable, first, last = True, set[int](), set[int]()
    for part in parts:
        part_nullable, part_first, part_last = _visit(part, found)
        found.follow |= {(a, b) for a in last for b in part_first}
        if nullable:
            first |= part_first
        last = part_last | last if part_nullable else part_last
        nullable = nullable and part_nullable
    return nullable, first, last


def _place(found: Places, place: Place) -> tuple[set[int], set[int]]:
    found.all.append(place)
    number = len(found.all) - 1
    return {number}, {number}


@dataclass(frozen=True)
class Contractions:
    """Letters that count only right after a sign, as those of English contractions: 's, 'll.

    Attributes:
        letters: the sets of these letters.
        signs: the sets of the signs.
        window: how many characters after a sign such a letter can be.
        only: whether nothing but such letters makes these signs different from others.
    """

    letters: frozenset[str] = frozenset()
    signs: frozenset[str] = frozenset()
    window: int = 0
    only: bool = True


def contractions_of(node: Node) -> Contractions | None:
    """The contractions of an expression; None if its letters count elsewhere as well."""
    places = places_of(node)
    letters = {n for n, place in enumerate(places.all) if _LETTERS.fullmatch(place.source)}
    names = {places.all[n].source for n in letters}
    hidden = {leaf.source for leaf in _looked_at(node)}
    if names & hidden:
        return None
    if not letters:
        return Contractions()
    signs = {a for a, b in places.follow if b in letters} - letters
    if letters & places.first or not all(_SIGNS.fullmatch(places.all[n].source) for n in signs):
        return None
    window = _longest_chain(letters, places)
    if window is None:
        return None
    sources = frozenset(places.all[n].source for n in signs)
    only = (
        not signs & places.last
        and all(b in letters for a, b in places.follow if a in signs)
        and not any(p.source in sources for n, p in enumerate(places.all) if n not in signs)
        and sources.isdisjoint(hidden)
    )
    return Contractions(frozenset(names), sources, window, only)


def _looked_at(node: Node) -> Iterator[Chars]:
    """The sets in look-arounds."""
    for look in look_arounds(node):
        yield from leaves(look)


def _looked_far_at(node: Node) -> Iterator[Chars]:
    """The sets in look-arounds that look at more than one character."""
    for look in look_arounds(node):
        if not isinstance(look.part, Chars):
            yield from leaves(look)


def _looks_back(node: Node) -> Iterator[LookBack]:
    """All look-arounds that look at what stands before."""
    return (found for found in walk(node) if isinstance(found, LookBack))


def _may_hold_after(look: LookBack, is_member: IsMember, character: str) -> bool:
    if isinstance(look.part, Chars):
        return is_member(look.part.source, character) != look.negated
    return True


def looked_back_at(node: Node) -> frozenset[str]:
    """The sets in look-arounds that look at what stands before.

    Take a place of a text that has a character of none of these sets before it. Nothing that looks
    back across this place finds a match. So the expression matches what follows as if a text began
    there.
    """
    return frozenset(leaf.source for look in _looks_back(node) for leaf in leaves(look))


def back_reach(node: Node) -> int:
    """How many characters before a place the expression may look at."""
    return max((lengths(look.part)[1] or 0 for look in _looks_back(node)), default=0)


def looks_far(node: Node) -> bool:
    """Whether the expression looks further than one character beyond a match."""
    match node:
        case Look(part):
            return not isinstance(part, Chars)
        case End():
            return True
        case Sequence(parts) | Choice(parts):
            return any(map(looks_far, parts))
        case Atomic(part) | Repeat(part):
            return looks_far(part)
    return False


def _longest_chain(letters: set[int], places: Places) -> int | None:
    """How many of `letters` can follow each other; None if there is no limit."""
    after = {n: {b for a, b in places.follow if a == n and b in letters} for n in letters}
    length, ends = 0, set(letters)
    while ends:
        length += 1
        if length > len(letters):
            return None
        ends = set().union(*(after[n] for n in ends))
    return length


def matched_alone(node: Node, is_member: IsMember, character: str) -> bool:
    """Whether the expression matches wherever a text goes on with `character`.

    It does if an option matches this one character and needs nothing after it.
    """
    options = node.options if isinstance(node, Choice) else (node,)
    return any(_matches_one(option, is_member, character) for option in options)


def _matches_one(option: Node, is_member: IsMember, character: str) -> bool:
    parts = option.parts if isinstance(option, Sequence) else (option,)
    if any(isinstance(part, Look | LookBack | End) for part in parts):
        return False
    for n, part in enumerate(parts):
        takes = isinstance(part, Chars | Repeat) and is_member(_set_of(part), character)
        needs_more = isinstance(part, Repeat) and part.least > 1
        if takes and not needs_more and all(map(_can_be_skipped, parts[n + 1 :])):
            return True
        if not _can_be_skipped(part) or (
            isinstance(part, Repeat) and part.kind == "possessive" and takes
        ):
            return False
    return False


def _set_of(part: Chars | Repeat) -> str:
    return part.source if isinstance(part, Chars) else part.part.source


def _can_be_skipped(part: Node) -> bool:
    match part:
        case Repeat(least=0) | Sequence(()):
            return True
        case Choice(options):
            return any(map(_can_be_skipped, options))
        case Sequence(parts):
            return all(map(_can_be_skipped, parts))
    return False


def forms_runs(node: Node, is_member: IsMember, character: str) -> bool:
    """Whether a match never ends inside a long run of `character`, but near the run's two ends.

    A match could end inside the run if the expression counts the character, or takes it last and
    only once. It could begin after the run's first character if it looks back at that.
    """
    if any(is_member(leaf.source, character) for leaf in _looked_far_at(node)):
        return False
    if any(_may_hold_after(look, is_member, character) for look in _looks_back(node)):
        return False
    for option in node.options if isinstance(node, Choice) else (node,):
        places = places_of(option)
        taking = [n for n, p in enumerate(places.all) if is_member(p.source, character)]
        kinds = [places.all[n].kind for n in taking]
        loops = {n for n in taking if places.all[n].kind == "loop"}
        singles = set(taking) - loops
        if "counted" in kinds or "lazy" in kinds:
            return False
        if any(a in singles and b in singles for a, b in places.follow):
            return False
        for n in places.last.intersection(taking):
            if n not in loops and not any((n, m) in places.follow for m in loops):
                return False
    return True
