"""What the two sides keep secret: a random key, or a password.

A key has full entropy and only needs HKDF. A password goes through Argon2id first, over a random
salt that travels with the message, so that guessing passwords costs memory and time for each
message anew.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from os import PathLike

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

from ..consistency.characters import compose
from ..errors import KeyFormatError, WrongTypeError
from ..inputs import read_file
from ..keys import key_bytes

KEY_BYTES = 32
_MOST_FILE_BYTES = 4 << 10  # 64 digits, and more white space than anyone puts around them
SALT_BYTES = 16

# The second recommended parameters of RFC 9106. Both sides must use the same: they are part of
# the format, not settings.
_ARGON2_ITERATIONS = 3
_ARGON2_LANES = 4
_ARGON2_MEMORY_KIB = 64 * 1024

_DRAWS = b"ticore/draws/1/"
_HEX_KEY = re.compile(rf"\s*([0-9a-fA-F]{{{2 * KEY_BYTES}}})\s*")


@dataclass(frozen=True)
class SealingKeys:
    """The keys of one message, or of all messages under one 32-byte key. Its repr shows none.

    Attributes:
        siv_key: 64 bytes, for AES-256-SIV.
        length_key: 32 bytes, for the mask over the length.
        draws_root: 32 bytes, for the random numbers that both sides draw; see `draws_key`.
    """

    siv_key: bytes = field(repr=False)
    length_key: bytes = field(repr=False)
    draws_root: bytes = field(repr=False)

    def draws_key(self, nonce: bytes) -> bytes:
        """32 bytes for `ticore.draws` in the one text that has this nonce."""
        return HKDFExpand(SHA256(), length=KEY_BYTES, info=_DRAWS + nonce).derive(self.draws_root)


@dataclass(frozen=True, eq=False)
class Secret:
    """What unlocks a message. Made by `from_key` or `from_password`; its repr shows neither.

    Attributes:
        salt_length: number of random bytes that `derive` needs: 0 for a key, 16 for a password.
    """

    _material: bytes = field(repr=False)
    salt_length: int
    # Whoever writes a message reads it back at once, and stretching a password is slow.
    _last: dict[bytes, SealingKeys] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_key(cls, key: bytes | str) -> Secret:
        """A secret of 32 random bytes, as `new_key` makes them, or of their hex digits.

        Raises:
            KeyFormatError: `key` has another length, or is no key: see `ticore.keys`.
        """
        return cls(sealing_key(key), salt_length=0)

    @classmethod
    def from_password(cls, password: str) -> Secret:
        """A secret that a person remembers.

        The text is brought to NFC: keyboards differ in how they compose the same characters. It is
        that of Unicode 14, so that the keys are the same on every Python.

        Raises:
            KeyFormatError: `password` is empty, or no valid Unicode text.
            WrongTypeError: `password` is no str.
        """
        if not isinstance(password, str):
            raise WrongTypeError(
                f"expected a password as a str, found {type(password).__name__}; for a key of "
                f"random bytes give key=..."
            )
        if not password:
            raise KeyFormatError("the password is empty; give one, or use a key file")
        try:
            material = compose(password).encode("utf-8")
        except UnicodeEncodeError:
            # Without the cause: its text would show the password.
            raise KeyFormatError(
                "the password is not valid Unicode text; is the terminal set to UTF-8?"
            ) from None
        return cls(material, salt_length=SALT_BYTES)

    def derive(self, salt: bytes) -> SealingKeys:
        """The keys that seal a message.

        Args:
            salt: `salt_length` random bytes, transmitted with the message.

        Raises:
            ValueError: `salt` has another length.
        """
        if len(salt) != self.salt_length:
            raise ValueError(f"expected a salt of {self.salt_length} bytes, found {len(salt)}")
        if salt not in self._last:
            root = self._stretch(salt) if self.salt_length else self._material
            self._last.clear()
            self._last[salt] = SealingKeys(
                siv_key=_expand(root, b"ticore/seal/1/siv", 64),
                length_key=_expand(root, b"ticore/seal/1/length", 32),
                draws_root=_expand(root, _DRAWS, 32),
            )
        return self._last[salt]

    def _stretch(self, salt: bytes) -> bytes:
        return Argon2id(
            salt=salt,
            length=KEY_BYTES,
            iterations=_ARGON2_ITERATIONS,
            lanes=_ARGON2_LANES,
            memory_cost=_ARGON2_MEMORY_KIB,
        ).derive(self._material)


def new_key() -> bytes:
    """32 bytes from the system's random generator."""
    return secrets.token_bytes(KEY_BYTES)


def format_key(key: bytes) -> str:
    """The text of a key file: 64 hex digits and a newline.

    >>> format_key(bytes(31) + b"*")
    '000000000000000000000000000000000000000000000000000000000000002a\\n'
    """
    return key.hex() + "\n"


def sealing_key(key: object) -> bytes:
    """The 32 bytes of `key`, given as such or as hex digits. Raises KeyFormatError."""
    data = key_bytes(key)
    if len(data) != KEY_BYTES:
        raise KeyFormatError(
            f"a key has {KEY_BYTES} bytes, found {len(data)}; make one with: ticore keygen"
        )
    return bytes(data)


def parse_key(data: bytes | str, source: str = "the key") -> bytes:
    """The key in a key file: 64 hex digits with white space around them, or 32 raw bytes.

    Args:
        data: the file's content.
        source: the file's name, for the error's text.

    Raises:
        KeyFormatError: `data` is neither.

    >>> parse_key("ab" * 32 + "\\n") == bytes([0xAB]) * 32
    True
    """
    if isinstance(data, str):
        return parse_hex_key(data, source)
    if len(data) == KEY_BYTES:
        return bytes(data)
    return parse_hex_key(data.decode("ascii", errors="replace"), source)


def load_key(path: str | PathLike[str]) -> bytes:
    """The key in the file at `path`, such as `ticore keygen` makes.

    Raises:
        FileError: the file cannot be read.
        KeyFormatError: it holds no key.
    """
    return parse_key(read_file(path, _MOST_FILE_BYTES), str(path))


def parse_hex_key(text: str, source: str) -> bytes:
    """The key that 64 hex digits spell, white space around them ignored.

    Raises:
        KeyFormatError: `text` is not that. Its text never shows what was found, only how much.
    """
    match = _HEX_KEY.fullmatch(text)
    if match is None:
        count = len(text.strip())
        other = ", not all of them hex digits" if count == 2 * KEY_BYTES else ""
        raise KeyFormatError(
            f"{source}: expected a key of {2 * KEY_BYTES} hex digits (a key file may also hold "
            f"{KEY_BYTES} raw bytes), found {count} characters{other}; "
            f"make one with: ticore keygen"
        )
    return bytes.fromhex(match[1])


def _expand(root: bytes, label: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length=length, salt=None, info=label).derive(root)
