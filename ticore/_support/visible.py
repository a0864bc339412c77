"""Text and tokens made visible: control characters are shown, and do nothing on a screen."""

from __future__ import annotations

import unicodedata

import regex

# Characters that `str.isprintable` accepts although nothing is drawn for them, such as U+FE0F.
_INVISIBLE = regex.compile(r"\p{Default_Ignorable_Code_Point}")

_SPACE, _NOTHING = "\N{OPEN BOX}", "\N{EMPTY SET}"
_DOTTED_CIRCLE = "\N{DOTTED CIRCLE}"


def visible(text: str, keep: str = "") -> str:
    r"""`text` with escapes for control characters and characters that cannot be seen.

    Lone surrogates are also escaped, so the result can always be encoded. Characters in `keep` stay
    as they are.

    >>> visible("a b\t\u202e\x00\n", keep="\n")
    'a b\\t\\u202e\\x00\n'
    """
    if text.isascii() and text.isprintable():  # a page asks for each of its attributes
        return text
    return "".join(c if c in keep or _is_seen(c) else _escape(c) for c in text)


def visible_token(data: bytes) -> str:
    r"""The bytes of one token as `visible` shows text, with visible spaces.

    A space is `␣`, an empty token is `∅`, a byte that is not part of a whole character is in hex,
    and a combining character at the start follows a dotted circle.

    >>> visible_token(b" caf\xc3"), visible_token(b"\\\n"), visible_token(b"\xcc\x81")
    ('␣caf<0xC3>', '\\\\\\n', '◌́')
    """
    if not data:
        return _NOTHING
    # The handler turns invalid bytes into U+DC80 to U+DCFF; UTF-8 itself has no surrogates.
    shown = "".join(map(_visible_in_token, data.decode(errors="surrogateescape")))
    combines = unicodedata.category(shown[0]).startswith("M")
    return _DOTTED_CIRCLE + shown if combines else shown


def _visible_in_token(character: str) -> str:
    if character == " ":
        return _SPACE
    if "\udc80" <= character <= "\udcff":
        return f"<0x{ord(character) & 0xFF:02X}>"
    # ␣, ∅ and \ have a meaning here, so they are escaped where the text itself has them.
    if _is_seen(character) and character not in (_SPACE, _NOTHING, "\\"):
        return character
    return _escape(character)


def _is_seen(character: str) -> bool:
    if not character.isprintable():
        return False
    return character.isascii() or not _INVISIBLE.match(character)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()
