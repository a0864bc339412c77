"""Expressions as trees whose leaves are sets of characters.

`to_regex` writes a tree as an expression of the package `regex`, which matches the same text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True)
class Chars:
    """One character of a set.

    Attributes:
        source: the set as an expression of the package `regex`, such as `[\\r\\n]`.
    """

    source: str


@dataclass(frozen=True)
class Sequence:
    """One part after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """The first option with which the whole expression matches."""

    options: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """`part` several times, as often as possible (greedy), as rarely (lazy), or never less.

    Attributes:
        most: None if there is no limit.
    """

    part: Chars
    least: int
    most: int | None
    kind: Literal["greedy", "lazy", "possessive"] = "greedy"


@dataclass(frozen=True)
class Look:
    """`part` follows here (or does not), and is no part of the match."""

    part: Node
    negated: bool


@dataclass(frozen=True)
class LookBack:
    """`part` ends here (or does not), and need not belong to the match.

    Attributes:
        part: without look-arounds; its matches have a bounded length.
        negated: whether no match of `part` may end here.
    """

    part: Node
    negated: bool


@dataclass(frozen=True)
class Atomic:
    """The first way in which `part` matches, and no other one."""

    part: Node


@dataclass(frozen=True)
class End:
    """The end of the text."""


Node = Chars | Sequence | Choice | Repeat | Look | LookBack | Atomic | End


def walk(node: Node) -> Iterator[Node]:
    """The tree and all trees in it, from left to right."""
    yield node
    match node:
        case Sequence(parts) | Choice(parts):
            for part in parts:
                yield from walk(part)
        case Repeat(part) | Look(part) | LookBack(part) | Atomic(part):
            yield from walk(part)


def leaves(node: Node) -> Iterator[Chars]:
    """The sets of characters in a tree, from left to right, as often as they occur."""
    return (found for found in walk(node) if isinstance(found, Chars))


def look_arounds(node: Node) -> Iterator[Look | LookBack]:
    """The look-arounds in a tree, from left to right, without those in other ones."""
    match node:
        case Look() | LookBack():
            yield node
        case Sequence(parts) | Choice(parts):
            for part in parts:
                yield from look_arounds(part)
        case Atomic(part):
            yield from look_arounds(part)


def with_sets(node: Node, change: Callable[[Chars], Chars]) -> Node:
    """The tree with each set of characters changed."""
    match node:
        case Chars():
            return change(node)
        case Sequence(parts):
            return Sequence(tuple(with_sets(part, change) for part in parts))
        case Choice(options):
            return Choice(tuple(with_sets(option, change) for option in options))
        case Repeat(part):
            return replace(node, part=change(part))
        case Look(part) | LookBack(part) | Atomic(part):
            return replace(node, part=with_sets(part, change))
    return node


def lengths(node: Node) -> tuple[int, int | None]:
    """How many characters a match has: at least, and at most (None if there is no limit)."""
    match node:
        case Chars():
            return 1, 1
        case Repeat(_, least, most):
            return least, most
        case Atomic(part):
            return lengths(part)
        case Choice(options):
            found = [lengths(option) for option in options]
            return min(least for least, _ in found), _limit([most for _, most in found], max)
        case Sequence(parts):
            found = [lengths(part) for part in parts]
            return sum(least for least, _ in found), _limit([most for _, most in found], sum)
    return 0, 0  # look-arounds, and the end


def _limit(limits: list[int | None], combine: Callable[[list[int]], int]) -> int | None:
    known = [limit for limit in limits if limit is not None]
    return combine(known) if len(known) == len(limits) else None


def to_regex(node: Node) -> str:
    """The tree as an expression of the package `regex`."""
    match node:
        case Chars(source):
            written = source
        case Sequence(parts):
            written = "".join(map(to_regex, parts))
        case Choice(options):
            written = f"(?:{'|'.join(map(to_regex, options))})"
        case Repeat(part, least, most, kind):
            ending = {"greedy": "", "lazy": "?", "possessive": "+"}[kind]
            written = to_regex(part) + _quantifier(least, most) + ending
        case Look(part, negated):
            written = f"(?{'!' if negated else '='}{to_regex(part)})"
        case LookBack(part, negated):
            written = f"(?<{'!' if negated else '='}{to_regex(part)})"
        case Atomic(part):
            written = f"(?>{to_regex(part)})"
        case End():
            written = r"\Z"
    return written


def _quantifier(least: int, most: int | None) -> str:
    known = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    return known.get((least, most), f"{{{least},{'' if most is None else most}}}")
