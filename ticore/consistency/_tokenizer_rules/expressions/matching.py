r"""Runs an expression, and notices whether text that is appended may change the match.

A backtracking matcher, as the libraries have, tries one way after the other and takes the first one
that succeeds. A try that asks for the character after the end of the text would perhaps end
otherwise if more text came. If no try did, the match is the same whatever is appended. With the
expression ` ?\p{L}+|\s+(?!\S)|\s+`:

    "a "    " " at 1: `\p{L}+` asks for the next character, so the match is open
    "a b "  "a" is settled by the space; " b" is settled by the second space
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import NamedTuple

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
    lengths,
)

_Continuation = Callable[[int], int]
_FAILED = -1


class Attempt(NamedTuple):
    """What a try to match at one place gave.

    Attributes:
        end: where the match ends; None if there is none.
        open: whether the answer may change if text is appended.
    """

    end: int | None
    open: bool


class Matcher:
    """Runs one expression. Thread-safe.

    Args:
        node: the expression.
    """

    def __init__(self, node: Node) -> None:
        self._lock = Lock()
        self._text = ""
        self._is_open = False
        self._looked_back_from = 0
        self._members: dict[str, dict[str, bool]] = {}
        self._run = self._compile(node, lambda at: at)

    def match(self, text: str, at: int) -> Attempt:
        """Try to match at `at`, with nothing after `text`."""
        with self._lock:
            self._text, self._is_open = text, False
            end = self._run(at)
            return Attempt(None if end == _FAILED else end, self._is_open)

    def _compile(self, node: Node, then: _Continuation) -> _Continuation:
        """What tries `node` at a place and `then` after it. It gives the end, or _FAILED."""
        match node:
            case Chars():
                run = self._one(node, then)
            case Sequence(parts):
                run = then
                for part in reversed(parts):
                    run = self._compile(part, run)
            case Choice(options):
                run = _first_of([self._compile(option, then) for option in options])
            case Repeat():
                run = self._repeat(node, then)
            case Look(part, negated):
                run = _look(self._compile(part, lambda at: at), negated, then)
            case LookBack():
                run = self._look_back(node, then)
            case Atomic(part):
                run = _atomic(self._compile(part, lambda at: at), then)
            case End():
                run = self._end(then)
        return run

    def _one(self, node: Chars, then: _Continuation) -> _Continuation:
        members = self._members_of(node)

        def run(at: int) -> int:
            text = self._text
            if at >= len(text):
                self._is_open = True
                return _FAILED
            return then(at + 1) if members[text[at]] else _FAILED

        return run

    def _repeat(self, node: Repeat, then: _Continuation) -> _Continuation:
        members = self._members_of(node.part)
        least, kind = node.least, node.kind
        unlimited = 1 << 60
        most = unlimited if node.most is None else node.most

        def longest(at: int) -> int:
            text, end = self._text, at
            limit = min(len(text), at + most)
            while end < limit and members[text[end]]:
                end += 1
            if end == len(text) and end < at + most:
                self._is_open = True
            return end

        def greedy(at: int) -> int:
            for end in range(longest(at), at + least - 1, -1):
                if (found := then(end)) != _FAILED:
                    return found
            return _FAILED

        def possessive(at: int) -> int:
            end = longest(at)
            return then(end) if end >= at + least else _FAILED

        def lazy(at: int) -> int:
            text, end = self._text, at
            while True:
                if end >= at + least and (found := then(end)) != _FAILED:
                    return found
                if end >= at + most:
                    return _FAILED
                if end >= len(text):
                    self._is_open = True
                    return _FAILED
                if not members[text[end]]:
                    return _FAILED
                end += 1

        return {"greedy": greedy, "possessive": possessive, "lazy": lazy}[kind]

    def _look_back(self, node: LookBack, then: _Continuation) -> _Continuation:
        part = self._compile(node.part, lambda at: at if at == self._looked_back_from else _FAILED)
        least, most = lengths(node.part)
        assert most is not None  # else it is not read

        def run(at: int) -> int:
            self._looked_back_from = at
            starts = range(at - least, max(-1, at - most - 1), -1)
            found = any(part(start) != _FAILED for start in starts)
            return then(at) if found != node.negated else _FAILED

        return run

    def _end(self, then: _Continuation) -> _Continuation:
        def run(at: int) -> int:
            if at < len(self._text):
                return _FAILED
            self._is_open = True
            return then(at)

        return run

    def _members_of(self, node: Chars) -> dict[str, bool]:
        return self._members.setdefault(node.source, Members(node.source))


class Members(dict[str, bool]):
    """Whether characters are in a set; each is looked at once."""

    def __init__(self, source: str) -> None:
        self._is_member = regex.compile(source).fullmatch

    def __missing__(self, character: str) -> bool:
        found = self._is_member(character) is not None
        self[character] = found
        return found


def _first_of(options: list[_Continuation]) -> _Continuation:
    def run(at: int) -> int:
        for option in options:
            if (found := option(at)) != _FAILED:
                return found
        return _FAILED

    return run


def _look(part: _Continuation, negated: bool, then: _Continuation) -> _Continuation:
    def run(at: int) -> int:
        return then(at) if (part(at) == _FAILED) == negated else _FAILED

    return run


def _atomic(part: _Continuation, then: _Continuation) -> _Continuation:
    def run(at: int) -> int:
        end = part(at)
        return _FAILED if end == _FAILED else then(end)

    return run
