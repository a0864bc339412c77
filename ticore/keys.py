"""What is accepted as a key: bytes, or the text that `ticore keygen` prints."""

from __future__ import annotations

import re

from .errors import KeyFormatError

_KEYGEN_DIGITS = 64  # what `ticore keygen` prints, and what the file that it writes holds
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+")


class RawKey(bytes):
    """Bytes that are a key as they stand, even where they look like the text of one.

    Earlier versions took the 64 hex digits of a key file, read as bytes, for a key of 64 bytes.
    What was written with such a key is still read with `RawKey`.

    >>> key_bytes(RawKey(b"ab" * 32)) == b"ab" * 32
    True
    """


def key_bytes(key: object) -> RawKey:
    """The bytes of `key`. How many there must be is for the caller to say.

    Args:
        key: bytes, or a text of hex digits with white space around it.

    Raises:
        KeyFormatError: `key` is neither, or it is the text of a key given as bytes, which would
            silently be another key. The error's text does not show the key.

    >>> key_bytes("00ff\\n")
    b'\\x00\\xff'
    """
    if isinstance(key, RawKey):
        return key
    if isinstance(key, str):
        return RawKey(_from_hex(key))
    if not isinstance(key, bytes | bytearray | memoryview):
        raise KeyFormatError(
            f"expected a key as bytes, or as a str of hex digits, found "
            f"{_article(type(key).__name__)}; read a key file with ticore.load_key(path)"
        )
    data = bytes(key)
    # A random key of as many bytes looks so once in 10^68 times.
    if len(data.strip()) == _KEYGEN_DIGITS and _HEX.fullmatch(
        data.strip().decode("ascii", "replace")
    ):
        raise KeyFormatError(
            f"expected a key, found the {_KEYGEN_DIGITS} hex digits of one as bytes, which would "
            f"be another key; give them as a str, or read the file with ticore.load_key(path); "
            f"to use these very bytes, as earlier versions did, give ticore.RawKey(...)"
        )
    return RawKey(data)


def _from_hex(text: str) -> bytes:
    digits = text.strip()
    if not digits.isascii() or _HEX.fullmatch(digits) is None:
        raise KeyFormatError(
            f"expected a key as bytes, or as a str of hex digits such as `ticore keygen` prints, "
            f"found a str of {len(digits)} characters that are not all hex digits, or an odd "
            f"number; for a password that a person remembers give password=..."
        )
    return bytes.fromhex(digits)


def _article(noun: str) -> str:
    return f"an {noun}" if noun[:1] in "aeiou" else f"a {noun}"
