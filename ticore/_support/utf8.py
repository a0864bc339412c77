"""UTF-8: which bytes are whole characters, and which are the beginning of a character.

A token may end inside a character. The bytes of this character up to there are *unfinished*.
"""

from __future__ import annotations

from codecs import utf_8_decode

from ..errors import SettingsError, WrongTypeError

LONGEST_UNFINISHED = 3
"""Bytes. A character has at most four, and with the fourth it is finished."""

NEVER_IN_TEXTS = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})
"""The 13 byte values that are no part of any character."""

# By the number of bytes of a character: the smallest code point that may be written with as many.
_SMALLEST = {2: 0x80, 3: 0x800, 4: 0x10000}


def unfinished_suffix(data: bytes) -> bytes:
    """The bytes of the unfinished character at the end of `data`; empty if there is none.

    >>> unfinished_suffix("né".encode()[:-1])
    b'\\xc3'
    """
    for length in range(1, min(LONGEST_UNFINISHED + 1, len(data) + 1)):
        suffix = data[-length:]
        if suffix[0] >= 0xC0:
            is_unfinished = length < character_length(suffix[0]) and _may_begin(suffix)
            return suffix if is_unfinished else b""
        if suffix[0] < 0x80:
            break
    return b""


def is_complete(data: bytes) -> bool:
    """Whether `data` is valid UTF-8 that ends with a whole character."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def may_begin_text(data: bytes) -> bool:
    """Whether some valid UTF-8 begins with `data`, which may end inside a character."""
    try:
        _, decoded = utf_8_decode(data, "strict", False)
    except UnicodeDecodeError:
        return False
    # Python decodes the first two bytes of a surrogate as unfinished; the third one is an error.
    return data[decoded:] == unfinished_suffix(data)


def is_continuation_byte(byte: int) -> bool:
    """Whether `byte` stands inside a character, after its first byte."""
    return 0x80 <= byte < 0xC0


def character_length(lead: int) -> int:
    """The length in bytes of a character whose first byte is `lead`, 0xC0 or more."""
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def missing_bytes(data: bytes) -> int:
    """How many bytes the unfinished character at the end of `data` lacks; 0 if there is none."""
    unfinished = unfinished_suffix(data)
    return character_length(unfinished[0]) - len(unfinished) if unfinished else 0


def completed_code_points(unfinished: bytes) -> range:
    """The code points whose UTF-8 begins with `unfinished`.

    Not all of them are characters; `ticore.consistency._tokenizer_rules.characters.completions`
    gives those that are.

    >>> completed_code_points(b"\\xc3")
    range(192, 256)
    """
    missing = character_length(unfinished[0]) - len(unfinished)
    first, last = (_code_point(unfinished + bytes([byte]) * missing) for byte in (0x80, 0xBF))
    return range(max(first, _SMALLEST[len(unfinished) + missing]), last + 1)


def require_unicode(text: str) -> None:
    """Refuse an object that is not a text, and a lone surrogate, which UTF-8 cannot write.

    Libraries differ in what they do with a lone surrogate, from an odd exception to a silent
    change. So every tokenizer adapter calls this first.

    Raises:
        SettingsError: for a lone surrogate.
        WrongTypeError: for an object that is not a str.
    """
    require_text(text)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SettingsError(
            f"expected text that is valid Unicode, found the lone surrogate "
            f"U+{ord(text[error.start]):04X} at character {error.start}; remove it, or read the "
            f"text with errors='replace'"
        ) from None


def require_text(text: object) -> None:
    """Refuse an object that is not a text.

    Raises:
        WrongTypeError: for an object that is not a str.
    """
    if not isinstance(text, str):
        decode = "; decode it first: text.decode()" if isinstance(text, bytes | bytearray) else ""
        raise WrongTypeError(f"expected a text (str), found {type(text).__name__}{decode}")


def _may_begin(data: bytes) -> bool:
    """Whether some character begins with `data`: a lead byte and perhaps continuation bytes."""
    if not 0xC2 <= data[0] <= 0xF4:
        return False
    low = {0xE0: 0xA0, 0xF0: 0x90}.get(data[0], 0x80)
    high = {0xED: 0x9F, 0xF4: 0x8F}.get(data[0], 0xBF)
    return len(data) == 1 or low <= data[1] <= high


def _code_point(data: bytes) -> int:
    """The code point that `data` spells, also where UTF-8 forbids it."""
    code = data[0] & (0x1F, 0x0F, 0x07)[len(data) - 2]
    for byte in data[1:]:
        code = code << 6 | byte & 0x3F
    return code
