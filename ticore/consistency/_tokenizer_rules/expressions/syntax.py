r"""Reads the regular expressions of pretokenizers, in the syntax of Oniguruma and of Rust.

Only what is known to be read as the libraries read it is read; for anything else the reason is
given. What is read becomes a tree. Anchors become look-arounds: in Oniguruma, `$` stands before a
line end or the end of the text, and so it is `(?![^\n])`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import regex

from .character_sets import Dialect, SetReader
from .neighbours import places_of
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
    walk,
)

_MOST_REPEATS = 64
_ANY, _LINE_END, _OTHER_THAN_LINE_END = map(Chars, (r"[\s\S]", r"\n", r"[^\n]"))
_TEXT_BEGINS = LookBack(_ANY, negated=True)
# Where case is ignored, Oniguruma takes some characters for two letters in a row: "ß" for "ss". All
# other pairs of ASCII have none.
_ONE_CHARACTER = frozenset(
    (f"[{a}{a.upper()}]", f"[{b}{b.upper()}]") for a, b in ("ff", "fi", "fl", "ss", "st")
)

_MakesGroup = Callable[[Node], Node] | None


def parse(expression: str, dialect: Dialect = "oniguruma") -> Node:
    """The tree of an expression.

    Raises:
        Unsupported: it holds something that is not read here, or it is no expression.
    """
    return _Parser(expression, dialect).parse()


class _Parser(SetReader):
    """Reads one expression from left to right."""

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
        node = parts[0] if len(parts) == 1 else Sequence(tuple(parts))
        if self._dialect == "oniguruma" and "(?i" in self._text:
            self._require_letters_apart(node)
        return node

    def _require_letters_apart(self, node: Node) -> None:
        """Refuse two letters that may be one character; perhaps some that are sets, `[sS]`, too."""
        places = places_of(node)
        for a, b in places.follow:
            if (places.all[a].source, places.all[b].source) in _ONE_CHARACTER:
                self._refuse("two letters that are one character where case is ignored")

    def _repeated(self) -> Node:
        part = self._atom()
        found = self._counts()
        if found is None:
            return part
        least, most, is_counted = found
        kind: Literal["greedy", "lazy", "possessive"] = "greedy"
        if self._take("?"):
            if is_counted and least == most and self._dialect == "oniguruma":
                # To Oniguruma `x{2}?` is `(?:x{2})?`.
                self._refuse("a count that is repeated")
            kind = "lazy"
        elif self._take("+"):
            if is_counted and self._dialect == "oniguruma":
                # To Oniguruma `x{1,3}+` is `(?:x{1,3})+`, which is `x+`.
                if least > 1 or most == 0 or not isinstance(part, Chars):
                    self._refuse("a count that is repeated")
                most = None
            else:
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
        if lengths(part)[1] == 0:
            self._refuse("a repeated look-around")
        if most is None and kind != "lazy" and (run := _as_run(part, least)) is not None:
            return Atomic(run) if kind == "possessive" else run
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
        if character == "\\":
            return self._escape()
        if character in ".^$":
            return self._sign(character)
        return Chars(self._cased(character))

    def _sign(self, character: str) -> Node:
        if character == "^":
            return self._line_begins()
        if character == "$":
            is_text_end = self._dialect == "rust"
            return End() if is_text_end else Look(_OTHER_THAN_LINE_END, negated=True)
        return _OTHER_THAN_LINE_END

    def _line_begins(self) -> Node:
        """`^`. To Oniguruma no line begins at the end of a text."""
        if self._dialect == "rust":
            return _TEXT_BEGINS
        after_line_end = LookBack(_OTHER_THAN_LINE_END, negated=True)
        return Sequence((after_line_end, Look(_ANY, negated=False)))

    def _group(self) -> Node:
        self._at += 1
        before = self._ignores_case
        make = self._opening()
        part = self._choice()
        if not self._take(")"):
            self._refuse("a group that does not end")
        self._ignores_case = before
        return part if make is None else make(part)

    def _opening(self) -> _MakesGroup:
        """What becomes of a group, after its bracket; None for what stands in it."""
        kinds: dict[str, _MakesGroup] = {
            "?:": None,
            "?>": Atomic,
            "?=": lambda part: Look(part, negated=False),
            "?!": lambda part: Look(part, negated=True),
            "?<=": lambda part: self._look_back(part, negated=False),
            "?<!": lambda part: self._look_back(part, negated=True),
        }
        for opening, kind in kinds.items():
            if self._take(opening):
                return kind
        if self._take("?i:"):
            self._ignores_case = True
        elif self._take("?-i:"):
            self._ignores_case = False
        elif self._peek() == "?":
            self._refuse("a group `(?` of an unknown kind")
        return None

    def _look_back(self, part: Node, *, negated: bool) -> Node:
        most = lengths(part)[1]
        if most is None:
            self._refuse("a look at any number of characters before a match")
        if any(isinstance(found, Look | LookBack | End) for found in walk(part)):
            self._refuse("a look-around in a look at the characters before a match")
        return LookBack(part, negated)

    def _escape(self) -> Node:
        match self._peek():
            case "A":
                node: Node = _TEXT_BEGINS
            case "z":
                node = End()
            case "Z" if self._dialect == "oniguruma":
                node = Look(Sequence((Repeat(_LINE_END, 0, 1), End())), negated=False)
            case "b":
                node = self._word_ends(is_end=True)
            case "B":
                node = self._word_ends(is_end=False)
            case "p" | "P" | "s" | "S" | "d" | "D" | "w" | "W":
                return Chars(self._class())
            case _:
                return Chars(self._cased(self._escaped_character()))
        self._at += 1
        return node

    def _word_ends(self, *, is_end: bool) -> Node:
        r"""`\b`, where a word begins or ends, or `\B`, where it does not."""
        letter = Chars(self._word())
        return Choice(
            tuple(
                Sequence((LookBack(letter, negated), Look(letter, negated != is_end)))
                for negated in (False, True)
            )
        )


def _as_run(part: Node, least: int) -> Node | None:
    """A group that is repeated without a limit, if it matches as a run of characters does.

    Of the sets A and B, `(?:A|B)+` is `[AB]+`, and `(?:AB*)+` is `A[AB]*`: both try the same ends,
    the longest first. None for other groups.
    """
    empty = Sequence(())
    match part:
        case Choice(options) if all(isinstance(option, Chars) for option in options):
            sources = (option.source for option in options if isinstance(option, Chars))
            return Repeat(Chars(f"(?:{'|'.join(sources)})"), least, None)
        case Sequence((Chars(first), Repeat(Chars(later), 0, None, "greedy"))) if least < 2:
            either = Chars(f"(?:{first}|{later})")
            run = Sequence((Chars(first), Repeat(either, 0, None)))
            return run if least else Choice((run, empty))
    return None
