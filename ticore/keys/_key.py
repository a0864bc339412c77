"""The key of messages and watermarks: what is accepted as one, and its form in a file."""

from __future__ import annotations

import codecs
import re
import secrets
from os import PathLike
from typing import Self

from .._support.input_files import read_file
from ..errors import CredentialError

KEY_BYTES = 32
"""Length of a new key, and of every key of messages."""

_KEY_DIGITS = 2 * KEY_BYTES
_MOST_FILE_BYTES = 4 << 10  # 64 digits, and more white space than anyone puts around them
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")
_PRINTABLE = re.compile(rb"[\t\n\r -~]*")


class Key(bytes):
    """A secret key: bytes whose `repr` does not show them.

    `Key(data)` takes any bytes as they stand, even where they look like the hex digits of a key.
    `hex()` gives the digits that a key file holds.

    Raises:
        CredentialError: `data` is not bytes.

    >>> Key.from_hex("00ff")
    Key(2 bytes)
    >>> Key.from_hex("00ff").hex()
    '00ff'
    """

    def __new__(cls, data: bytes | bytearray | memoryview = b"") -> Self:
        if not isinstance(data, bytes | bytearray | memoryview):
            raise CredentialError(
                f"expected the bytes of a key, found {_article(type(data).__name__)}; for hex "
                f"digits use Key.from_hex, for a new key Key.new"
            )
        return super().__new__(cls, data)

    @classmethod
    def new(cls) -> Self:
        """A random key of 32 bytes, from the system's random generator."""
        return cls(secrets.token_bytes(KEY_BYTES))

    @classmethod
    def from_hex(cls, text: str) -> Self:
        """The key that hex digits spell.

        Args:
            text: an even number of hex digits; white space around them is ignored.

        Raises:
            CredentialError: `text` is something else. The error does not show the text.
        """
        if not isinstance(text, str):
            raise CredentialError(
                f"expected a key as a str of hex digits, found {type(text).__name__}; give bytes "
                f"to `Key` itself"
            )
        digits = text.strip()
        if not digits.isascii() or _HEX.fullmatch(digits) is None:
            raise CredentialError(
                f"expected a key as bytes, or as a str of hex digits such as `ticore keygen` "
                f"prints, found a str of {len(digits)} characters that is not an even number of "
                f"hex digits; for a password that a person remembers give password=..."
            )
        return cls(bytes.fromhex(digits))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} bytes)"

    __str__ = __repr__


def key_bytes(key: object) -> Key:
    """The key that `key` stands for. Its length is for the caller to check.

    Args:
        key: a Key, bytes, or a text of hex digits with white space around it.

    Raises:
        CredentialError: `key` is something else, or it is the hex digits of a key given as bytes,
            which would be another key. The error does not show the key.

    >>> key_bytes("00ff\\n") == b"\\x00\\xff"
    True
    """
    if isinstance(key, Key):
        return key
    if isinstance(key, str):
        return Key.from_hex(key)
    if not isinstance(key, bytes | bytearray | memoryview):
        raise CredentialError(
            f"expected a key as bytes, or as a str of hex digits, found "
            f"{_article(type(key).__name__)}; read a key file with ticore.load_key(path)"
        )
    data = bytes(key)
    # A random key of 64 bytes looks like this once in 10^68 times.
    if len(data.strip()) == _KEY_DIGITS and _HEX.fullmatch(data.strip().decode("ascii", "replace")):
        raise CredentialError(
            f"expected a key, found the {_KEY_DIGITS} hex digits of one as bytes, which would "
            f"be another key; give them as a str, or read the file with ticore.load_key(path); "
            f"to use these very bytes, as earlier versions did, give ticore.Key(...)"
        )
    return Key(data)


def new_key() -> Key:
    """A random key of 32 bytes: `Key.new()`."""
    return Key.new()


def format_key(key: bytes) -> str:
    """The text of a key file: the hex digits, 64 for a key of 32 bytes, and a newline.

    >>> format_key(bytes(31) + b"*")
    '000000000000000000000000000000000000000000000000000000000000002a\\n'
    """
    return key.hex() + "\n"


def parse_key(data: bytes | str, source: str = "the key") -> Key:
    """The key in a key file: 64 hex digits with white space around them, or 32 raw bytes.

    32 characters of ASCII are no raw bytes: random ones look like this once in 10^13 times, and
    half of the digits of a key, or a password, do.

    Args:
        data: the file's content.
        source: the file's name, for the error's text.

    Raises:
        CredentialError: `data` is neither. The error says how much was found, not what.

    >>> parse_key("ab" * 32 + "\\n") == bytes([0xAB]) * 32
    True
    """
    if isinstance(data, bytes | bytearray | memoryview):
        data = bytes(data)
        if len(data) == KEY_BYTES and not _PRINTABLE.fullmatch(data):
            return Key(data)
        # Some editors put a byte order mark before a text in UTF-8.
        data = data.removeprefix(codecs.BOM_UTF8).decode("ascii", errors="replace")
    digits = data.strip()
    if len(digits) != _KEY_DIGITS or _HEX.fullmatch(digits) is None:
        other = ", not all of them hex digits" if len(digits) == _KEY_DIGITS else ""
        raise CredentialError(
            f"{source}: expected a key of {_KEY_DIGITS} hex digits (a key file may also hold "
            f"{KEY_BYTES} raw bytes), found {len(digits)} characters{other}; "
            f"make one with: ticore keygen"
        )
    return Key.from_hex(digits)


def load_key(path: str | PathLike[str]) -> Key:
    """The key in the file at `path`, such as `ticore keygen` makes.

    Raises:
        InputFileError: the file cannot be read.
        CredentialError: it does not hold a key.
    """
    return parse_key(read_file(path, _MOST_FILE_BYTES), str(path))


def _article(noun: str) -> str:
    return f"an {noun}" if noun[:1] in "aeiou" else f"a {noun}"
