"""Short frames for short messages: nine bytes more than the payload, under plain bounds.

    frame      salt (16 bytes, with a password only) | tag (8) | ciphertext
    plaintext  2 bits: packing | 1 bit: padded | 5 random bits || payload, or the padded payload

This is SIV (Rogaway & Shrimpton, "Deterministic Authenticated-Encryption", 2006) with a short tag:
the tag is the first 8 bytes of HMAC-SHA256 of all that is authenticated, and the nonce of
AES-256-CTR over the plaintext. There is no length: a reader tries to open what it has read after
each byte, up to MOST_BYTES of plaintext.

What that means, in plain numbers:

1. *Forgery.* A text that was not written under the key is taken for a message with probability
   below 2^-51: 2^-64 for each of the 4,096 lengths that are tried.
2. *Secrecy.* Two of n messages under one key have the same tag with probability n^2 / 2^65: one in
   32,000 at 2^25 messages. An observer of both then learns the XOR of the two.
3. *Repetition.* The same message under the same key and agreement has one of 32 frames, or of more
   if it is padded. Then the two texts begin alike.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from copy import copy
from hashlib import sha256
from secrets import token_bytes
from typing import Self

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR

from ..errors import CapacityError, IncompleteMessageError
from ._bit_buffer import BitBuffer
from ._keys import SealingKeys, Secret
from ._padding import padded, unpadded
from ._payload import Packing, Payload

TAG_BYTES = 8
OVERHEAD = TAG_BYTES + 1
MOST_BYTES = 4096
_DOMAIN = b"ticore/compact-frame/1"
_PADDED = 4
_PACKINGS = 3  # the bits of a header that say how the message was packed


def seal(
    payload: Payload,
    secret: Secret,
    agreement_digest: bytes,
    entropy: Callable[[int], bytes] = token_bytes,
    *,
    pad: bool = False,
) -> bytes:
    """The frame that carries a payload. Arguments are those of `_frame.seal`.

    Raises:
        CapacityError: the plaintext is longer than `MOST_BYTES`.
    """
    header = entropy(1)[0] & ~(_PACKINGS | _PADDED) | payload.packing | (_PADDED if pad else 0)
    body = padded(payload.data, 1, entropy) if pad else payload.data
    plaintext = bytes([header]) + body
    if len(plaintext) > MOST_BYTES:
        raise CapacityError(
            f"a message with compact security takes at most {MOST_BYTES:,} bytes, found "
            f"{len(plaintext):,}; send it with standard security, or in parts"
        )
    salt = entropy(secret.salt_length) if secret.salt_length else b""
    keys = secret.derive(salt)
    tag = _tag(keys, agreement_digest, plaintext)
    return salt + tag + _crypt(keys, tag, plaintext)


class CompactFrameReader:
    """Reads a frame from bits that arrive in order, as `_frame.FrameReader` does."""

    def __init__(self, secret: Secret, agreement_digest: bytes) -> None:
        self._secret = secret
        self._agreement_digest = agreement_digest
        self._bits = BitBuffer()
        self._tag_start = secret.salt_length
        self._start = secret.salt_length + TAG_BYTES
        self._tried = self._start  # bytes up to which no frame ends
        self._keys: SealingKeys | None = None
        self._found: Payload | None = None

    def fork(self) -> Self:
        """A reader that has read the same bits, and goes on by itself."""
        other = copy(self)
        other._bits = self._bits.fork()
        return other

    def feed(self, value: int, count: int) -> None:
        """Append `count` bits, the most significant first. Raises ValueError as `FrameReader`."""
        self._bits.append(value, count)
        while not self.complete and self._tried < len(self._bits.whole):
            self._tried += 1
            self._found = self._opened(self._tried)

    @property
    def bits_needed(self) -> int:
        """How many more bits must come before more is known; 0 once `complete`."""
        return 0 if self.complete else max(1, 8 * (self._tried + 1) - self._bits.count)

    @property
    def complete(self) -> bool:
        """Whether no more bits are needed: the frame is whole, or there is none."""
        return self._found is not None or self._tried - self._start >= MOST_BYTES

    @property
    def least_bits(self) -> int:
        """A lower bound of the frame's length in bits, from what was read of it."""
        return 8 * (self._tried if self._found else self._tried + 1)

    def payload(self, most_bits: int | None = None) -> Payload:
        """The payload in the frame.

        Raises:
            IncompleteMessageError: no message ends in what was read. A wrong key has the same
                effect.
        """
        if self._found is None:
            raise IncompleteMessageError(
                f"no message was found in the {self._bits.count} bits that were read: the text was "
                f"cut or altered, or the key or password, the prompt or another setting is not "
                f"what it was written with"
            )
        return self._found

    def _opened(self, end: int) -> Payload | None:
        """The payload of the frame of the first `end` bytes, if they are one."""
        received = self._bits.whole
        if self._keys is None:
            self._keys = self._secret.derive(bytes(received[: self._tag_start]))
        tag, ciphertext = received[self._tag_start : self._start], received[self._start : end]
        plaintext = _crypt(self._keys, bytes(tag), bytes(ciphertext))
        expected = _tag(self._keys, self._agreement_digest, plaintext)
        if not hmac.compare_digest(expected, bytes(tag)):
            return None
        header, body = plaintext[0], plaintext[1:]
        if header & _PACKINGS not in set(Packing):
            return None
        data = unpadded(body) if header & _PADDED else body
        return None if data is None else Payload(Packing(header & _PACKINGS), data)


def _tag(keys: SealingKeys, agreement_digest: bytes, plaintext: bytes) -> bytes:
    # Both digest and domain have fixed lengths, so the parts cannot be read otherwise.
    return hmac.digest(keys.tag_key, _DOMAIN + agreement_digest + plaintext, sha256)[:TAG_BYTES]


def _crypt(keys: SealingKeys, tag: bytes, data: bytes) -> bytes:
    """XOR with the keystream of this tag: encrypts and decrypts."""
    # The nonce fills the upper half of the counter block: streams of two tags never meet.
    stream = Cipher(AES(keys.stream_key), CTR(tag + bytes(8))).encryptor()
    return stream.update(data) + stream.finalize()
