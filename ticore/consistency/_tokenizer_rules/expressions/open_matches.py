r"""What an expression still tries at the end of an unfinished text.

A backtracking matcher tries one way after the other. At the end of a text some ways have failed,
some match, and some wait for more. Of the ways that wait only the place in the expression matters,
and not the text that led there. With the expression ` ?\p{L}+|\s+(?!\S)|\s+`:

    "ab", " abc"   more letters; else the match ends here
    " "            a letter; else more spaces; else the match ends here, if no sign follows; ...
    "  "           more spaces; else here, if no sign follows; else one character before; ...

So texts of the first line are told apart by nothing that follows. That is the invariant of
`open_match`: after two texts with equal ways, whatever follows is matched alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Sequence as ListOf
from itertools import chain, count

from .matching import Members
from .tree import Atomic, Chars, Choice, End, Look, LookBack, Node, Repeat, Sequence, walk

Way = int | tuple[int | str | None, ...]
"""A number: the match ends that many characters before the end of the text, whatever follows, if
no way before it matches. Else a place that waits for more text, and what has to be known there: how
many characters a repetition still takes, or the text from the place on."""

Ways = tuple[Way, ...]
"""Ways in the order in which they are tried, without those after a match. It is empty if no match
begins there, whatever follows."""

OpenMatch = Callable[[str, int], Ways]
"""`open_match(text, at)`: the ways to match at `at`, if more text may follow."""


def open_match(node: Node) -> OpenMatch | None:
    """The ways of an expression; None if it looks at what stands before a match."""
    if any(isinstance(part, LookBack) for part in walk(node)):
        return None
    numbers = count()
    return _compile(node, _end, lambda: next(numbers))


def possible_ends(ways: Ways) -> set[int]:
    """How many characters before the end of the text the match may end; perhaps too many."""
    found = {0}
    for way in ways:
        if isinstance(way, int):
            found.add(way)
        elif isinstance(way[-1], str):  # the text from which on it waits
            found.update(range(len(way[-1]) + 1))
    return found


def _end(text: str, at: int) -> Ways:
    return (len(text) - at,)


def _compile(node: Node, then: OpenMatch, new_number: Callable[[], int]) -> OpenMatch:
    """The ways to match `node` and `then` after it. Each place gets a number of its own."""
    match node:
        case Chars(source):
            run = _one(Members(source), then, new_number())
        case Sequence(parts):
            run = then
            for part in reversed(parts):
                run = _compile(part, run, new_number)
        case Choice(options):
            run = _first_of([_compile(option, then, new_number) for option in options])
        case Repeat():
            run = _repeat(node, then, new_number())
        case Look(part, negated):
            run = _look(_compile(part, _end, new_number), negated, then, new_number())
        case Atomic(part):
            run = _atomic(_compile(part, _end, new_number), then, new_number())
        case End():
            run = _end_of_text(new_number())
        case LookBack():
            raise AssertionError("open_match refuses it")
    return run


def _in_order(options: Iterable[Ways]) -> Ways:
    """The ways of several options. Where a way repeats, it is tried in vain the second time."""
    found: list[Way] = []
    for ways in options:
        for way in ways:
            if way not in found:
                found.append(way)
        if found and isinstance(found[-1], int):
            break
    return tuple(found)


def _first_of(options: ListOf[OpenMatch]) -> OpenMatch:
    return lambda text, at: _in_order(option(text, at) for option in options)


def _end_of_text(number: int) -> OpenMatch:
    waits: Ways = ((number, ""),)
    return lambda text, at: () if at < len(text) else waits


def _one(members: Members, then: OpenMatch, number: int) -> OpenMatch:
    waits: Ways = ((number,),)

    def run(text: str, at: int) -> Ways:
        if at == len(text):
            return waits
        return then(text, at + 1) if members[text[at]] else ()

    return run


def _repeat(node: Repeat, then: OpenMatch, number: int) -> OpenMatch:
    members, least, most = Members(node.part.source), node.least, node.most

    def run(text: str, at: int) -> Ways:
        end, limit = at, len(text) if most is None else min(len(text), at + most)
        while end < limit and members[text[end]]:
            end += 1
        goes_on: Ways = ()
        if end == len(text) and (most is None or end < at + most):
            left = None if most is None else at + most - end
            goes_on = ((number, max(0, at + least - end), left),)
        if node.kind == "possessive":
            return goes_on or (then(text, end) if end >= at + least else ())
        ends = range(at + least, end + 1)
        if node.kind == "lazy":
            return _in_order(chain((then(text, n) for n in ends), [goes_on]))
        return _in_order(chain([goes_on], (then(text, n) for n in reversed(ends))))

    return run


def _look(part: OpenMatch, negated: bool, then: OpenMatch, number: int) -> OpenMatch:
    def run(text: str, at: int) -> Ways:
        ways = part(text, at)
        if ways and not isinstance(ways[-1], int):
            return ((number, text[at:]),)
        return then(text, at) if bool(ways) != negated else ()

    return run


def _atomic(part: OpenMatch, then: OpenMatch, number: int) -> OpenMatch:
    def run(text: str, at: int) -> Ways:
        ways = part(text, at)
        if not ways:
            return ()
        first = ways[0]
        return then(text, len(text) - first) if isinstance(first, int) else ((number, text[at:]),)

    return run
