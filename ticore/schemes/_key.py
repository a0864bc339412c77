"""The key of a watermark: how long it is, and the name by which a verdict mentions it."""

from __future__ import annotations

from hashlib import blake2b

from ..errors import CredentialError
from ..keys import key_bytes

MIN_KEY_BYTES = 16
_MOST_KEY_BYTES = blake2b.MAX_KEY_SIZE


def scheme_key(key: object) -> bytes:
    """The bytes of a key of 16 to 64 bytes.

    Args:
        key: bytes, or a str of hex digits; see `ticore.keys.key_bytes`.

    Raises:
        CredentialError: it is neither, or too short or too long. The error does not show the key.
    """
    found = key_bytes(key)
    if not MIN_KEY_BYTES <= len(found) <= _MOST_KEY_BYTES:
        raise CredentialError(
            f"expected a key of {MIN_KEY_BYTES} to {_MOST_KEY_BYTES} bytes, found "
            f"{len(found)}; make one with: ticore keygen"
        )
    return found


def key_fingerprint(key: object) -> str:
    """A short name of a key, which tells keys apart and does not give the key away.

    It has 32 bits of a hash, and a key has 128 random bits or more.

    Raises:
        CredentialError: as `scheme_key`.

    >>> key_fingerprint(bytes(32))
    '48e7-e603'
    """
    digits = blake2b(scheme_key(key), digest_size=4, person=b"ticore key name").hexdigest()
    return f"{digits[:4]}-{digits[4:]}"
