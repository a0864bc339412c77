r"""Reads the sets of characters in expressions: `a`, `\p{L}`, `[^\r\n]`, `[\p{L}&&[^\p{Han}]]`.

They are written as expressions of the package `regex` that match one character.
"""

from __future__ import annotations

from typing import Literal, NoReturn

import regex

from ..._unsupported import Unsupported

Dialect = Literal["oniguruma", "rust"]

# What `tokenizers`, tiktoken and `regex` take for the same characters, as far as Unicode 14 knows
# them; the tests compare them, character by character.
_PROPERTY = regex.compile(
    r"L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?|Letter|Alphabetic"
    r"|(?P<script>Han|Hiragana|Katakana|Hangul|Latin|Greek|Cyrillic|Arabic|Thai|Bopomofo|Hebrew"
    r"|Devanagari|Armenian|Tamil)"
)
# A set of single characters and ranges is the same in every version of Unicode. But where case is
# ignored, some libraries take the long s for an "s".
_IN_DOUBT = regex.compile(r"\\[pPwWdDsShHX]|\[\[?:|\(\?i")
_CONTROLS = {"r": "\r", "n": "\n", "t": "\t", "f": "\f", "v": "\v"}
_POSIX = {
    "alpha": r"\p{Alphabetic}",
    "digit": r"\p{Nd}",
    "alnum": r"\p{Alphabetic}\p{Nd}",
    "space": r"\s",
}
_WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}"
_JOINERS = r"\u200c\u200d"
# Outside of brackets, Oniguruma takes characters of Latin-1 that Unicode calls numbers for letters.
_LATIN_NUMBERS = r"\u00b2\u00b3\u00b9\u00bc-\u00be"
_COMPLEMENT = regex.compile(r"\\[SDP]")
_CLASSES = frozenset("pPsSdDwW")


def may_be_in_doubt(expression: str) -> bool:
    """Whether libraries may disagree on a set of an expression.

    They have different versions of Unicode, and different characters that differ in case only.
    """
    return _IN_DOUBT.search(expression) is not None


class SetReader:
    """Reads an expression from left to right: its sets.

    Args:
        text: the expression.
        dialect: whose syntax it has.
    """

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text = text
        self._dialect = dialect
        self._at = 0
        self._ignores_case = False

    def _word(self, *, in_brackets: bool = False, negated: bool = False) -> str:
        r"""The set `\w`, or `\W`. Libraries have different ideas of it."""
        more = "" if in_brackets else _LATIN_NUMBERS
        if self._dialect == "rust":
            more = _JOINERS
        return f"[{'^' if negated else ''}{_WORD}{more}]"

    def _class(self, *, in_brackets: bool = False) -> str:
        """A class of characters, after its backslash."""
        code = self._text[self._at]
        self._at += 1
        if code in "wW":
            if self._ignores_case:
                self._refuse(f"`\\{code}` where case is ignored")
            return self._word(in_brackets=in_brackets, negated=code == "W")
        if code in "sSdD":
            if code in "SD" and self._ignores_case:
                self._refuse(f"`\\{code}` where case is ignored")
            return f"\\{code}"
        found = regex.compile(r"\{(\^?)(\w+)\}|([A-Z])").match(self._text, self._at)
        if found is None:
            self._refuse(f"a property `\\{code}` without a name")
        if found[3] and self._dialect == "oniguruma":  # to which `\pL` is the letters "pL"
            self._refuse(f"a property `\\{code}` without a bracket `{{`")
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
        self._at += 1
        negated = self._take("^")
        if negated and self._ignores_case:
            self._refuse("a negated set where case is ignored")
        # `[a&&b]` has what both sides have.
        sides = [self._union()]
        while self._take("&&"):
            sides.append(self._union())
        if not self._take("]"):
            self._refuse("a set that does not end")
        *others, last = sides
        found = f"(?:{''.join(f'(?={side})' for side in others)}{last})" if others else last
        return _negated(found) if negated else found

    def _union(self) -> str:
        """What stands in a set, up to its end or to `&&`."""
        items, apart = list[str](), list[str]()
        while not self._text.startswith(("]", "&&"), self._at):
            if self._at >= len(self._text):
                self._refuse("a set that does not end")
            if self._text.startswith(("--", "~~"), self._at):
                self._refuse("an operation on sets")
            if self._text.startswith("[:", self._at):
                items.append(self._posix())
                continue
            item = self._set() if self._peek() == "[" else self._set_item()
            is_plain = item[0] == "[" and item[1] != "^"
            if is_plain:
                items.append(item[1:-1])
            elif item[0] in "[(":
                apart.append(item)
            else:
                items.append(item)
        if items:
            apart.insert(0, f"[{''.join(items)}]")
        if not apart:
            self._refuse("an empty set")
        return apart[0] if len(apart) == 1 else f"(?:{'|'.join(apart)})"

    def _posix(self) -> str:
        found = regex.compile(r"\[:(\w+):\]").match(self._text, self._at)
        # To Rust these are classes of ASCII.
        if found is None or found[1] not in _POSIX or self._ignores_case or self._dialect == "rust":
            self._refuse("a POSIX class")
        self._at = found.end()
        return _POSIX[found[1]]

    def _set_item(self) -> str:
        first = self._set_character()
        if len(first) > 1:
            return first
        is_range = self._peek() == "-" and self._text[self._at + 1 : self._at + 2] not in ("]", "")
        if not is_range:
            return self._cased(first)
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
        if self._peek() in _CLASSES:
            return self._class(in_brackets=True)
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


def _negated(source: str) -> str:
    # The package `regex` takes `[^\s\S]` for everything.
    is_safe = source[0] == "[" and source[1] != "^" and not _COMPLEMENT.search(source)
    if is_safe:
        return f"[^{source[1:]}"
    return rf"(?:(?!{source})[\s\S])"


def _quoted(character: str) -> str:
    """A character as it stands in an expression, inside and outside of sets."""
    if character.isascii() and not character.isalnum():
        return f"\\x{ord(character):02x}"
    return character
