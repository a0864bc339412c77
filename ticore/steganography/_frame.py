"""A message as bytes that look random without the secret, and back.

    frame      salt (16 bytes, with a password only) | tag (16) | masked length | ciphertext
    plaintext  31 random bits | 1 bit: the payload is deflated | payload
    or         30 random bits | 2 bits: packing | padded payload

AES-SIV computes the tag from everything it authenticates, so the tag looks random. It comes first.
The length of the ciphertext follows, under a mask derived from the tag, and is authenticated with
it. The random bits make two frames of one message unrelated. Only the salt is sent in the clear,
and it is random: a magic number or a plain length would bias the first tokens of every text.

The second form of the plaintext came later, for messages that are padded or coded by the model.
Another domain is authenticated with it, by which a reader tells the two apart.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from secrets import token_bytes
from typing import Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from ..errors import AlteredTextError, IncompleteMessageError
from ._bit_buffer import BitBuffer
from ._keys import SealingKeys, Secret
from ._padding import leb128, padded, padded_size, read_leb128, unpadded
from ._payload import MAX_MESSAGE, Packing, Payload

TAG_BYTES = 16
HEADER_BYTES = 4
OVERHEAD = TAG_BYTES + HEADER_BYTES + 2
"""About how many bytes a frame adds to a payload, without salt and padding."""

# The longest plaintext: of a padded message of MAX_MESSAGE.
_MOST_BYTES = padded_size(MAX_MESSAGE + 16)
MAX_LENGTH_BYTES = len(leb128(_MOST_BYTES))

_DOMAIN = b"ticore/frame/1"
_PADDED_DOMAIN = b"ticore/frame/2"
_LENGTH_DOMAIN = b"ticore/frame/1/length"
_DEFLATED = 1
_PACKINGS = 3  # the bits of a header that say how the message was packed


def seal(
    payload: Payload,
    secret: Secret,
    agreement_digest: bytes,
    entropy: Callable[[int], bytes] = token_bytes,
    *,
    pad: bool = False,
) -> bytes:
    """The frame that carries a payload.

    Args:
        payload: of any message, which may be empty.
        secret: what the reader needs to open it.
        agreement_digest: `Agreement.digest()` of the settings that the frame is sent under.
        entropy: `f(n)` gives n random bytes.
        pad: whether the frame is to have one of a few lengths.

    Returns:
        Bytes that look uniformly random: 21 more than a short payload, 37 with a password. With
        `pad`, more.

    >>> secret, digest = Secret.from_key(bytes(32)), bytes(32)
    >>> reader = FrameReader(secret, digest)
    >>> for byte in seal(Payload.of(b"at noon"), secret, digest) + b"whatever follows":
    ...     reader.feed(byte, count=8)
    >>> reader.payload().message()
    b'at noon'
    """
    salt = entropy(secret.salt_length) if secret.salt_length else b""
    keys = secret.derive(salt)
    first_form = not pad and payload.packing <= Packing.DEFLATED
    flags, domain = (_DEFLATED, _DOMAIN) if first_form else (_PACKINGS, _PADDED_DOMAIN)
    header = int.from_bytes(entropy(HEADER_BYTES)) & ~flags | payload.packing
    body = payload.data if first_form else _with_padding(payload.data, entropy, pad)
    plaintext = header.to_bytes(HEADER_BYTES) + body
    length = leb128(len(plaintext))
    associated = _associated_data(agreement_digest, length, domain)
    sealed = AESSIV(keys.siv_key).encrypt(plaintext, associated)
    tag, ciphertext = sealed[:TAG_BYTES], sealed[TAG_BYTES:]
    return salt + tag + _mask_length(keys, tag, length) + ciphertext


class FrameReader:
    """Reads a frame from bits that arrive in order, a few at a time.

    What follows the frame is ignored, so the caller may go on feeding, or stop once `complete`.
    The number of bits needed is known step by step: first to the first byte of the length, then to
    its last byte, then to the end of the frame.
    """

    def __init__(self, secret: Secret, agreement_digest: bytes) -> None:
        """Wait for a frame that was sealed with the same `secret` and `agreement_digest`."""
        self._secret = secret
        self._agreement_digest = agreement_digest
        self._bits = BitBuffer()
        self._needed = self._length_start + 1  # bytes before which nothing more can be said
        self._keys: SealingKeys | None = None
        self._length = b""  # unmasked; empty until its last byte is there
        self._size: int | None = None  # of the ciphertext; stays None if the length is impossible

    def fork(self) -> Self:
        """A reader that has read the same bits, and goes on by itself."""
        other = copy(self)
        other._bits = self._bits.fork()
        return other

    def feed(self, value: int, count: int) -> None:
        """Append `count` bits, the most significant first.

        The cost is linear in the bits. With a password, the call that completes the tag also runs
        Argon2id, once.

        Raises:
            ValueError: `value` is negative or has more than `count` bits.
        """
        if not self.complete:
            self._bits.append(value, count)
            self._read_length()

    @property
    def bits_needed(self) -> int:
        """How many more bits must come before more is known; 0 once `complete`."""
        return max(0, 8 * self._needed - self._bits.count)

    @property
    def complete(self) -> bool:
        """Whether no more bits are needed: the frame is whole, or its length is impossible."""
        return self._length != b"" and self.bits_needed == 0

    @property
    def least_bits(self) -> int:
        """A lower bound of the frame's length in bits, from what was read of it."""
        return 8 * self._needed

    def payload(self, most_bits: int | None = None) -> Payload:
        """The payload in the frame.

        Args:
            most_bits: of the longest frame that a text can hold; None if that is not known.

        Raises:
            IncompleteMessageError: bits are missing. A wrong key has the same effect if the length
                that it gives is longer than the text.
            AlteredTextError: the frame was not sealed with this secret and this agreement, or
                was altered since.
        """
        if most_bits is not None and self.least_bits > most_bits:
            raise IncompleteMessageError(
                f"the key or password, the prompt or another setting is not what the text was "
                f"written with, or the text was altered: as it is read, it begins a message of at "
                f"least {self.least_bits:,} bits, and no text of this model holds more than "
                f"{most_bits:,}"
            )
        if not self.complete:
            raise IncompleteMessageError(
                f"the text ends before the message does: {self._bits.count} bits were read, at "
                f"least {8 * self._needed} are needed; either the text was cut or altered, or the "
                f"key or password, the prompt or another setting is not what it was written with"
            )
        if self._keys is None or self._size is None:
            raise _not_authentic()
        ciphertext = self._bits.whole[self._length_start + len(self._length) : self._needed]
        for domain in (_DOMAIN, _PADDED_DOMAIN):
            associated = _associated_data(self._agreement_digest, self._length, domain)
            try:
                opened = AESSIV(self._keys.siv_key).decrypt(self._tag + ciphertext, associated)
            except InvalidTag:
                continue
            found = _payload(opened, domain)
            if found is not None:
                return found
        raise _not_authentic()

    @property
    def _length_start(self) -> int:
        return self._secret.salt_length + TAG_BYTES

    @property
    def _tag(self) -> bytes:
        return bytes(self._bits.whole[self._secret.salt_length : self._length_start])

    def _read_length(self) -> None:
        """Read as much of the length as has arrived, and set how far the frame goes."""
        while self._length == b"" and len(self._bits.whole) >= self._needed:
            if self._keys is None:
                salt = bytes(self._bits.whole[: self._secret.salt_length])
                self._keys = self._secret.derive(salt)
            masked = self._bits.whole[self._length_start : self._needed]
            length = _mask_length(self._keys, self._tag, masked)
            if length[-1] & 0x80 and len(length) < MAX_LENGTH_BYTES:
                self._needed += 1
            else:
                self._length, self._size = length, _decode_length(length)
                self._needed += self._size or 0


def _with_padding(data: bytes, entropy: Callable[[int], bytes], pad: bool) -> bytes:
    """Data in the second form of a plaintext, which is padded, perhaps by nothing."""
    return padded(data, HEADER_BYTES, entropy) if pad else leb128(0) + data


def _payload(plaintext: bytes, domain: bytes) -> Payload | None:
    """The payload of a plaintext; None if `seal` never writes such a one."""
    header, body = plaintext[HEADER_BYTES - 1], plaintext[HEADER_BYTES:]
    if domain == _DOMAIN:
        return Payload(Packing(header & _DEFLATED), body)
    data = unpadded(body)
    if data is None or header & _PACKINGS not in set(Packing):
        return None
    return Payload(Packing(header & _PACKINGS), data)


def _associated_data(
    agreement_digest: bytes, length: bytes, domain: bytes
) -> list[bytes | bytearray | memoryview]:
    return [agreement_digest, length, domain]


def _mask_length(keys: SealingKeys, tag: bytes, length: bytes | bytearray) -> bytes:
    """XOR with a keystream of this tag. It is its own inverse, also for the first bytes alone."""
    expand = HKDFExpand(SHA256(), length=MAX_LENGTH_BYTES, info=_LENGTH_DOMAIN + tag)
    stream = expand.derive(keys.length_key)
    return bytes(a ^ b for a, b in zip(length, stream, strict=False))


def _decode_length(code: bytes) -> int | None:
    """The size that `code` stands for, or None if `seal` never writes such a code."""
    size, _ = read_leb128(code) or (0, 0)
    in_range = HEADER_BYTES <= size <= _MOST_BYTES
    # Comparing whole codes allows one code per size: no padding, no byte after the last.
    return size if in_range and leb128(size) == code else None


def _not_authentic() -> AlteredTextError:
    return AlteredTextError(
        "a message was read, but its tag does not fit: the key or password, the prompt or another "
        "setting is not the one that it was written with, or the text was altered in a way that "
        "reads on, so that no place shows"
    )
