"""What the two sides keep secret: a random key, or a password.

A key has full entropy and only needs HKDF. A password goes through Argon2id first, with a random
salt that travels with the message. So each guess costs memory and time, and serves for one message
only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

from ..consistency._tokenizer_rules.characters import compose
from ..errors import CredentialError, WrongTypeError
from ..keys import KEY_BYTES, Key, key_bytes

SALT_BYTES = 16
LEAST_PASSWORD = 12
"""Characters. Argon2id makes each guess slow, but there are few short passwords."""

# The second recommended parameters of RFC 9106. Both sides must use the same: they are part of
# the format, not settings.
_ARGON2_ITERATIONS = 3
_ARGON2_LANES = 4
_ARGON2_MEMORY_KIB = 64 * 1024

_RANDOMNESS = b"ticore/draws/1/"


@dataclass(frozen=True)
class SealingKeys:
    """The keys of one message (with a password), or of all messages under one 32-byte key.

    Its repr shows none of them.

    Attributes:
        siv_key: 64 bytes, for AES-256-SIV.
        length_key: 32 bytes, for the mask over the length.
        randomness_root: 32 bytes, for the random numbers that both sides share; see `shared_key`.
        tag_key, stream_key: 32 bytes each, for the tag and the cipher of compact frames.
        check_key: 32 bytes, for the checks in the frames of long messages that are searched.
    """

    siv_key: bytes = field(repr=False)
    length_key: bytes = field(repr=False)
    randomness_root: bytes = field(repr=False)
    tag_key: bytes = field(repr=False)
    stream_key: bytes = field(repr=False)
    check_key: bytes = field(repr=False)

    def shared_key(self, nonce: bytes) -> bytes:
        """The 32-byte key of the SharedRandomness of the one text with this nonce."""
        return HKDFExpand(SHA256(), length=KEY_BYTES, info=_RANDOMNESS + nonce).derive(
            self.randomness_root
        )


@dataclass(frozen=True, eq=False)
class Secret:
    """What unlocks a message: a key or a password. Make one with `from_key` or `from_password`.

    Its repr does not show the key or the password.

    Attributes:
        salt_length: number of random bytes that `derive` needs: 0 for a key, 16 for a password.
    """

    _material: bytes = field(repr=False)
    salt_length: int
    # The writer reads each message back at once, and Argon2id is slow. At most one salt is cached.
    _last: dict[bytes, SealingKeys] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def from_key(cls, key: bytes | str) -> Secret:
        """A secret of a key: 32 random bytes, or their hex digits.

        Raises:
            CredentialError: `key` does not have 32 bytes, or is not a key.
        """
        return cls(sealing_key(key), salt_length=0)

    @classmethod
    def from_password(cls, password: str) -> Secret:
        """A secret that a person remembers.

        The text is brought to NFC, since keyboards differ in how they compose the same characters.
        The rules are those of Unicode 14, so that the keys are the same in every version of Python.

        Raises:
            CredentialError: `password` is empty, or no valid Unicode text.
            WrongTypeError: `password` is no str.
        """
        if not isinstance(password, str):
            raise WrongTypeError(
                f"expected a password as a str, found {type(password).__name__}; for a key of "
                f"random bytes give key=..."
            )
        if not password:
            raise CredentialError("the password is empty; give one, or use a key file")
        try:
            material = compose(password).encode("utf-8")
        except UnicodeEncodeError:
            # Without the cause: its text would show the password.
            raise CredentialError(
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
        keys = self._last.get(salt)
        if keys is None:
            root = self._stretch(salt) if self.salt_length else self._material
            keys = SealingKeys(
                siv_key=_expand(root, b"ticore/seal/1/siv", 64),
                length_key=_expand(root, b"ticore/seal/1/length", 32),
                randomness_root=_expand(root, _RANDOMNESS, 32),
                tag_key=_expand(root, b"ticore/compact/1/tag", 32),
                stream_key=_expand(root, b"ticore/compact/1/stream", 32),
                check_key=_expand(root, b"ticore/checks/1", 32),
            )
            # Another thread may do the same: `keys` is never read back from the cache.
            self._last.clear()
            self._last[salt] = keys
        return keys

    def _stretch(self, salt: bytes) -> bytes:
        return Argon2id(
            salt=salt,
            length=KEY_BYTES,
            iterations=_ARGON2_ITERATIONS,
            lanes=_ARGON2_LANES,
            memory_cost=_ARGON2_MEMORY_KIB,
        ).derive(self._material)


def sealing_key(key: object) -> Key:
    """The key of 32 bytes that `key` stands for: see `ticore.keys.key_bytes`.

    Raises:
        CredentialError: it does not have 32 bytes, or is not a key.
    """
    found = key_bytes(key)
    if len(found) != KEY_BYTES:
        raise CredentialError(
            f"expected a key of {KEY_BYTES} bytes, found {len(found)}; make one with: ticore keygen"
        )
    return found


def password_advice(password: str) -> str:
    """What to say about a new password; empty if nothing is."""
    if len(password) >= LEAST_PASSWORD:
        return ""
    characters = "1 character" if len(password) == 1 else f"{len(password)} characters"
    return (
        f"a password of {characters} may be guessed; take at least {LEAST_PASSWORD}, "
        f"such as four unrelated words, or use a key"
    )


def _expand(root: bytes, label: bytes, length: int) -> bytes:
    return HKDF(SHA256(), length=length, salt=None, info=label).derive(root)
