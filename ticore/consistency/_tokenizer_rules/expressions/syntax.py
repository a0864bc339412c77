r"""Reads the regular expressions of pretokenizers, in the syntax of Oniguruma and of Rust.

Only what all libraries understand alike is read; for anything else the reason is given. What is
read becomes a tree whose leaves are sets of characters. `to_regex` writes the tree as an expression
of the package `regex`, which matches the same text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn

import regex

from ..._engines.base import Unsupported

Dialect = Literal["oniguruma", "rust"]


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
class Atomic:
    """The first way in which `part` matches, and no other one."""

    part: Node


@dataclass(frozen=True)
class End:
    """The end of the text."""


Node = Chars | Sequence | Choice | Repeat | Look | Atomic | End

# What `tokenizers`, tiktoken and `regex` take for the same characters, as far as Unicode 14 knows
# them; the tests compare them, character by character.
_PROPERTY = regex.compile(
    r"L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?"
    r"|(?P<script>Han|Hiragana|Katakana|Hangul|Latin|Greek|Cyrillic|Arabic|Thai)"
)
_CONTROLS = {"r": "\r", "n": "\n", "t": "\t", "f": "\f", "v": "\v"}
_MOST_REPEATS = 64


def parse(expression: str, dialect: Dialect = "oniguruma") -> Node:
    """The tree of an expression.

    Raises:
        Unsupported: it holds something that is not read here, or it is no expression.
    """
    return _Parser(expression, dialect).parse()


def leaves(node: Node) -> Iterator[Chars]:
    """The sets of characters in a tree, from left to right, as often as they occur."""
    match node:
        case Chars():
            yield node
        case Sequence(parts) | Choice(parts):
            for part in parts:
                yield from leaves(part)
        case Repeat(part) | Look(part) | Atomic(part):
            yield from leaves(part)


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
        case Atomic(part):
            written = f"(?>{to_regex(part)})"
        case End():
            written = r"\Z"
    return written


def _quantifier(least: int, most: int | None) -> str:
    known = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    return known.get((least, most), f"{{{least},{'' if most is None else most}}}")


class _Parser:
    """Reads one expression from left to right."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text = text
        self._dialect = dialect
        self._at = 0
        self._ignores_case = False

    def parse(self) -> Node:
        if self._text.startswith("(?i)"):
            self._at, self._ignores_case = 4, True
        node = self._choice()
        if self._at < len(self._text):
            self._refuse("a bracket that nothing opens")
        return node

    def _choice(self) -> Node:
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _repeated(self) -> Node:
        part = self._atom()
        found = self._counts()
        if found is None:
            return part
        least, most, is_counted = found
        kind: Literal["greedy", "lazy", "possessive"] = "greedy"
        if self._take("?"):
            kind = "lazy"
        elif self._take("+"):
            # To Oniguruma `x{1,3}+` is `(?:x{1,3})+`.
            if is_counted and self._dialect == "oniguruma":
                self._refuse("a count that is repeated")
            kind = "possessive"
        if self._peek() in ("*", "+", "?") or self._at_counts():
            self._refuse("a repetition that is repeated")
        if (most is not None and most > _MOST_REPEATS) or least > _MOST_REPEATS:
            self._refuse(f"a count above {_MOST_REPEATS}")
        if isinstance(part, Chars):
            return Repeat(part, least, most, kind)
        return self._repeated_group(part, least, most, kind)

    def _repeated_group(self, part: Node, least: int, most: int | None, kind: str) -> Node:
        """A group that is repeated a limited number of times, written out."""
        if isinstance(part, Look | End):
            self._refuse("a repeated look-around")
        if most is None or most > 4:
            self._refuse("a group that is repeated without a limit")
        empty = Sequence(())
        node: Node = empty
        for _ in range(most - least):
            more = Sequence((part, node))
            node = Choice((empty, more) if kind == "lazy" else (more, empty))
        node = Sequence((*[part] * least, node))
        return Atomic(node) if kind == "possessive" else node

    def _at_counts(self) -> bool:
        return regex.compile(r"\{\d*,?\d*\}").match(self._text, self._at) is not None

    def _counts(self) -> tuple[int, int | None, bool] | None:
        if self._take("*"):
            return 0, None, False
        if self._take("+"):
            return 1, None, False
        if self._take("?"):
            return 0, 1, False
        if self._peek() != "{":
            return None
        found = regex.compile(r"\{(\d+)(,?)(\d*)\}").match(self._text, self._at)
        if found is None:
            self._refuse("a bracket `{` that is no count")
        self._at = found.end()
        least = int(found[1])
        most = int(found[3]) if found[3] else None if found[2] else least
        if most is not None and most < least:
            self._refuse("a count whose limits are exchanged")
        return least, most, True

    def _atom(self) -> Node:
        character = self._peek()
        if character == "(":
            return self._group()
        if character == "[":
            return Chars(self._set())
        if character in "*+?{":
            self._refuse("a repetition of nothing")
        self._at += 1
        match character:
            case ".":
                return Chars(r"[^\n]")
            case "$" if self._dialect == "rust":
                return End()
            case "^" | "$":
                self._refuse(f"`{character}`, which looks for the end of a line or text")
            case "\\":
                return self._escape()
        return self._literal(character)

    def _group(self) -> Node:
        self._at += 1
        before = self._ignores_case
        make = None
        for opening, kind in (
            ("?:", None),
            ("?>", Atomic),
            ("?=", lambda part: Look(part, negated=False)),
            ("?!", lambda part: Look(part, negated=True)),
        ):
            if self._take(opening):
                make = kind
                break
        else:
            if self._take("?i:"):
                self._ignores_case = True
            elif self._take("?-i:"):
                self._ignores_case = False
            elif self._text.startswith(("?<=", "?<!"), self._at):
                self._refuse("a look at the characters before a match")
            elif self._peek() == "?":
                self._refuse("a group `(?` of an unknown kind")
        part = self._choice()
        if not self._take(")"):
            self._refuse("a group that does not end")
        self._ignores_case = before
        return part if make is None else make(part)

    def _escape(self) -> Node:
        code = self._text[self._at : self._at + 1]
        if code == "z":
            self._at += 1
            return End()
        if code in ("p", "P", "s", "S", "d", "D", "w", "W"):
            return Chars(self._class())
        return self._literal(self._escaped_character())

    def _class(self) -> str:
        """A class of characters, after its backslash."""
        code = self._text[self._at]
        self._at += 1
        if code in "wW":
            self._refuse(f"`\\{code}`, of which libraries have different ideas")
        if code in "sSdD":
            if code in "SD" and self._ignores_case:
                self._refuse(f"`\\{code}` where case is ignored")
            return f"\\{code}"
        found = regex.compile(r"\{(\^?)(\w+)\}|([A-Z])").match(self._text, self._at)
        if found is None:
            self._refuse(f"a property `\\{code}` without a name")
        self._at = found.end()
        name = found[2] or found[3]
        if not _PROPERTY.fullmatch(name):
            self._refuse(f"the property `{name}`")
        if self._ignores_case:  # some marks fold to letters
            self._refuse(f"the property `{name}` where case is ignored")
        negated = (code == "P") != bool(found[1])
        return f"\\{'P' if negated else 'p'}{{{name}}}"

    def _escaped_character(self) -> str:
        """The character of an escape, after its backslash."""
        found = regex.compile(
            r"x\{([0-9A-Fa-f]+)\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]+)\}"
        ).match(self._text, self._at)
        if found is not None:
            self._at = found.end()
            code = int(next(filter(None, found.groups())), 16)
            if code > 0x10FFFF or 0xD800 <= code < 0xE000:
                self._refuse("a number that is no character")
            return chr(code)
        character = self._text[self._at : self._at + 1]
        self._at += 1
        if character in _CONTROLS:
            return _CONTROLS[character]
        if not character or (character.isascii() and character.isalnum()):
            self._refuse(f"the escape `\\{character}`")
        return character

    def _literal(self, character: str) -> Chars:
        return Chars(self._cased(character))

    def _cased(self, character: str) -> str:
        """A set of one character, and of its other case where case is ignored."""
        if self._ignores_case:
            if not character.isascii() or character in "kK":
                self._refuse(f"`{character}` where case is ignored")
            if character.isalpha():
                return f"[{character.lower()}{character.upper()}]"
        return _quoted(character)

    def _set(self) -> str:
        """A set in brackets, from its bracket on."""
        items, negated = self._set_items()
        return f"[{'^' if negated else ''}{''.join(items)}]"

    def _set_items(self) -> tuple[list[str], bool]:
        self._at += 1
        negated = self._take("^")
        if negated and self._ignores_case:
            self._refuse("a negated set where case is ignored")
        items: list[str] = []
        while not self._take("]"):
            if self._at >= len(self._text):
                self._refuse("a set that does not end")
            if self._text.startswith(("&&", "--", "~~"), self._at):
                self._refuse("an operation on sets")
            if self._text.startswith("[:", self._at):
                self._refuse("a POSIX class")
            if self._peek() == "[":
                inner, is_negated = self._set_items()
                if is_negated:
                    self._refuse("a negated set inside a set")
                items += inner
                continue
            items.append(self._set_item())
        if not items:
            self._refuse("an empty set")
        return items, negated

    def _set_item(self) -> str:
        first = self._set_character()
        if len(first) > 1:
            return first
        is_range = self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", "")
        if not is_range:
            cased = self._cased(first)
            return cased[1:-1] if cased[0] == "[" else cased
        self._at += 1
        last = self._set_character()
        if len(last) > 1 or last < first:
            self._refuse("a range without an end")
        if self._ignores_case:
            return self._cased_range(first, last)
        return f"{_quoted(first)}-{_quoted(last)}"

    def _cased_range(self, first: str, last: str) -> str:
        if (first, last) not in (("a", "z"), ("A", "Z")) and (
            any(chr(code).isalpha() for code in range(ord(first), ord(last) + 1))
        ):
            self._refuse("a range of letters where case is ignored")
        if first.isalpha():
            # Where case is ignored, the Kelvin sign and the long s are letters of these ranges.
            return "a-zA-Z\u212a\u017f"
        return f"{_quoted(first)}-{_quoted(last)}"

    def _set_character(self) -> str:
        """A character of a set, or a class, which is longer than one character."""
        character = self._peek()
        self._at += 1
        if character != "\\":
            return character
        if self._peek() in ("p", "P", "s", "S", "d", "D", "w", "W"):
            return self._class()
        return self._escaped_character()

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _take(self, text: str) -> bool:
        found = self._text.startswith(text, self._at)
        if found:
            self._at += len(text)
        return found

    def _refuse(self, what: str) -> NoReturn:
        raise Unsupported(
            f"the pretokenizer's regular expression has {what}, at character {self._at} of "
            f"{self._text!r}"
        )


def _quoted(character: str) -> str:
    """A character as it stands in an expression, inside and outside of sets."""
    if character.isascii() and not character.isalnum():
        return f"\\x{ord(character):02x}"
    return character
