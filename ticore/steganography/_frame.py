"""A message as bytes that look random without the secret, and back.

    frame      salt (16 bytes, with a password only) | tag (16) | masked length | ciphertext
    plaintext  31 random bits | 1 bit: the payload is deflated | payload

AES-SIV computes the tag from everything it authenticates, so the tag looks random. It comes first.
The length of the ciphertext follows, under a mask derived from the tag, and is authenticated with
it. The 31 random bits make two frames of one message unrelated. Only the salt is sent in the clear,
and it is random: a magic number or a plain length would bias the first tokens of every text.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from secrets import token_bytes

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from ..errors import AlteredTextError, CapacityError, ExtractionError, IncompleteMessageError
from ._keys import SealingKeys, Secret

TAG_BYTES = 16
HEADER_BYTES = 4
# Bounds what a frame can make its reader allocate, deflated payloads included.
MAX_MESSAGE = 2**28
# Seven bits per byte: enough for MAX_MESSAGE + HEADER_BYTES.
MAX_LENGTH_BYTES = 5

_FRAME_DOMAIN = b"ticore/frame/1"
_LENGTH_DOMAIN = b"ticore/frame/1/length"
_DEFLATED = 1
_RAW_DEFLATE = -zlib.MAX_WBITS  # negative: zlib's own header and checksum are left out


def seal(
    message: bytes,
    secret: Secret,
    agreement_digest: bytes,
    entropy: Callable[[int], bytes] = token_bytes,
) -> bytes:
    """The frame that carries `message`.

    Args:
        message: any bytes, which may be empty; at most MAX_MESSAGE.
        secret: what the reader needs to open it.
        agreement_digest: `Agreement.digest()` of the settings that the frame is sent under.
        entropy: `f(n)` gives n random bytes.

    Returns:
        Bytes that look uniformly random: 21 more than `message` where that is short and does not
        compress, 37 with a password.

    Raises:
        CapacityError: `message` is longer than MAX_MESSAGE.

    >>> secret, digest = Secret.from_key(bytes(32)), bytes(32)
    >>> reader = FrameReader(secret, digest)
    >>> for byte in seal(b"at noon", secret, digest) + b"whatever follows":
    ...     reader.feed(byte, count=8)
    >>> reader.message()
    b'at noon'
    """
    if len(message) > MAX_MESSAGE:
        raise CapacityError(
            f"a message has at most {MAX_MESSAGE} bytes, found {len(message)}; send it in parts"
        )
    salt = entropy(secret.salt_length) if secret.salt_length else b""
    keys = secret.derive(salt)
    plaintext = _pack(message, entropy)
    length = _encode_length(len(plaintext))
    sealed = AESSIV(keys.siv_key).encrypt(plaintext, _associated_data(agreement_digest, length))
    tag, ciphertext = sealed[:TAG_BYTES], sealed[TAG_BYTES:]
    return salt + tag + _mask_length(keys, tag, length) + ciphertext


def frame_overhead(secret: Secret) -> int:
    """About how many bytes a frame adds to a message that does not compress."""
    return nonce_length(secret) + HEADER_BYTES + 2


def nonce_length(secret: Secret) -> int:
    """The length of the nonce, in bytes: the salt and the tag, which no other frame has."""
    return secret.salt_length + TAG_BYTES


def shared_key(secret: Secret, nonce: bytes) -> bytes:
    """The key of the random numbers that both sides share after the `nonce` of the frame.

    Args:
        nonce: the frame's first `nonce_length(secret)` bytes.
    """
    salt, tag = nonce[: secret.salt_length], nonce[secret.salt_length :]
    return secret.derive(salt).shared_key(tag)


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
        self._received = bytearray()  # whole bytes; the few bits after them are held as a number
        self._tail, self._tail_bits = 0, 0
        self._needed = self._length_start + 1  # bytes before which nothing more can be said
        self._keys: SealingKeys | None = None
        self._length = b""  # unmasked; empty until its last byte is there
        self._size: int | None = None  # of the ciphertext; stays None if the length is impossible

    def feed(self, value: int, count: int) -> None:
        """Append `count` bits, the most significant first.

        The cost is linear in the bits. With a password, the call that completes the tag also runs
        Argon2id, once.

        Raises:
            ValueError: `value` is negative or has more than `count` bits.
        """
        if count < 0 or value >> count:
            raise ValueError(f"expected a number >= 0 of at most {count} bits")
        if self.complete:
            return
        bits = self._tail << count | value
        whole, self._tail_bits = divmod(self._tail_bits + count, 8)
        self._received += (bits >> self._tail_bits).to_bytes(whole, "big")
        self._tail = bits & ((1 << self._tail_bits) - 1)
        self._read_length()

    @property
    def bits_needed(self) -> int:
        """How many more bits must come before more is known; 0 once `complete`."""
        return max(0, 8 * self._needed - self._bits_received)

    @property
    def complete(self) -> bool:
        """Whether no more bits are needed: the frame is whole, or its length is impossible."""
        return self._length != b"" and self.bits_needed == 0

    @property
    def least_bits(self) -> int:
        """A lower bound of the frame's length in bits, from what was read of it."""
        return 8 * self._needed

    def message(self, most_bits: int | None = None) -> bytes:
        """The message in the frame.

        Args:
            most_bits: of the longest frame that a text can hold; None if that is not known.

        Raises:
            IncompleteMessageError: bits are missing. A wrong key has the same effect if the length
                that it gives is longer than the text.
            AlteredTextError: the frame was not sealed with this secret and this agreement, or
                was altered since.
            ExtractionError: the frame is authentic, but its payload does not decompress.
        """
        if most_bits is not None and self.least_bits > most_bits:
            raise IncompleteMessageError(
                f"the key or password, the prompt or another setting is not what the text was "
                f"written with: read with them, it begins a message of at least "
                f"{self.least_bits:,} bits, and no text of this model holds more than "
                f"{most_bits:,}"
            )
        if not self.complete:
            raise IncompleteMessageError(
                f"the text ends before the message does: {self._bits_received} bits were read, at "
                f"least {8 * self._needed} are needed; either the text was cut, or the key or "
                f"password, the prompt or another setting is not what it was written with"
            )
        if self._keys is None or self._size is None:
            raise _not_authentic()
        ciphertext = self._received[self._length_start + len(self._length) : self._needed]
        associated_data = _associated_data(self._agreement_digest, self._length)
        try:
            plaintext = AESSIV(self._keys.siv_key).decrypt(self._tag + ciphertext, associated_data)
        except InvalidTag:
            raise _not_authentic() from None
        return _unpack(plaintext)

    @property
    def _bits_received(self) -> int:
        return 8 * len(self._received) + self._tail_bits

    @property
    def _length_start(self) -> int:
        return self._secret.salt_length + TAG_BYTES

    @property
    def _tag(self) -> bytes:
        return bytes(self._received[self._secret.salt_length : self._length_start])

    def _read_length(self) -> None:
        """Read as much of the length as has arrived, and set how far the frame goes."""
        while self._length == b"" and len(self._received) >= self._needed:
            if self._keys is None:
                salt = bytes(self._received[: self._secret.salt_length])
                self._keys = self._secret.derive(salt)
            masked = self._received[self._length_start : self._needed]
            length = _mask_length(self._keys, self._tag, masked)
            if length[-1] & 0x80 and len(length) < MAX_LENGTH_BYTES:
                self._needed += 1
            else:
                self._length, self._size = length, _decode_length(length)
                self._needed += self._size or 0


def _pack(message: bytes, entropy: Callable[[int], bytes]) -> bytes:
    deflated = zlib.compress(message, level=9, wbits=_RAW_DEFLATE)
    shorter = len(deflated) < len(message)
    noise = int.from_bytes(entropy(HEADER_BYTES), "big") & ~_DEFLATED
    header = noise | (_DEFLATED if shorter else 0)
    return header.to_bytes(HEADER_BYTES, "big") + (deflated if shorter else message)


def _unpack(plaintext: bytes) -> bytes:
    payload = plaintext[HEADER_BYTES:]
    if not plaintext[HEADER_BYTES - 1] & _DEFLATED:
        return payload
    stream = zlib.decompressobj(wbits=_RAW_DEFLATE)
    try:
        # A longer message is cut at the limit. Then `eof` stays False.
        message = stream.decompress(payload, MAX_MESSAGE)
    except zlib.error:
        message = b""
    if not stream.eof or stream.unused_data:
        raise ExtractionError(
            f"the message is authentic, but does not decompress to at most {MAX_MESSAGE} bytes; "
            f"the program that wrote it is at fault"
        )
    return message


def _associated_data(
    agreement_digest: bytes, length: bytes
) -> list[bytes | bytearray | memoryview]:
    return [agreement_digest, length, _FRAME_DOMAIN]


def _mask_length(keys: SealingKeys, tag: bytes, length: bytes | bytearray) -> bytes:
    """XOR with a keystream of this tag. It is its own inverse, also for the first bytes alone."""
    expand = HKDFExpand(SHA256(), length=MAX_LENGTH_BYTES, info=_LENGTH_DOMAIN + tag)
    stream = expand.derive(keys.length_key)
    return bytes(a ^ b for a, b in zip(length, stream, strict=False))


def _encode_length(size: int) -> bytes:
    """Seven bits per byte, the lowest first; the top bit means that more bytes follow (LEB128).

    >>> _encode_length(300).hex()
    'ac02'
    """
    code = bytearray()
    while size >= 0x80:
        code.append(0x80 | size & 0x7F)
        size >>= 7
    code.append(size)
    return bytes(code)


def _decode_length(code: bytes) -> int | None:
    """The size that `code` stands for, or None if `seal` never writes such a code."""
    size = sum((byte & 0x7F) << 7 * place for place, byte in enumerate(code))
    in_range = HEADER_BYTES <= size <= HEADER_BYTES + MAX_MESSAGE
    # Comparing whole codes allows one code per size: no padding, no byte after the last.
    return size if in_range and _encode_length(size) == code else None


def _not_authentic() -> AlteredTextError:
    return AlteredTextError(
        "a message was read, but its tag does not fit: the key or password, the prompt or another "
        "setting is not the one that it was written with, or the text was altered"
    )
