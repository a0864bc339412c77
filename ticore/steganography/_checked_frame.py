"""Frames with checks in them, by which a search notices soon that it took a wrong token.

    frame   at most 64 bytes | check | at most 64 bytes | check | … | at most 64 bytes

Without checks a search knows that it is wrong where a frame ends. If a text has n places that the
tokenizer reads otherwise, there are 2^n ways to read it, and so long texts take too long. A check
rules out all but 1/256 of the wrong ways through the bytes before it. So each 64 bytes are
searched by themselves, and the time grows with the length alone. The price is one byte in 65. A
frame of up to 64 bytes has no check.

A check is one byte of HMAC-SHA256 of the frame so far, under a key of its own. The frame begins
with its tag, which no other frame has, so checks look random, and nothing can be learnt from them.
Whether a message is authentic is still up to the frame.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from hashlib import sha256
from typing import Self

from ..errors import AlteredTextError
from ._bit_buffer import BitBuffer
from ._frame_formats import AnyFrameReader, FrameFormat
from ._keys import Secret
from ._payload import Payload

SPACING = 64
"""A check follows each of this number of bytes of a frame, unless the frame ends there."""


def checked(frames: FrameFormat) -> FrameFormat:
    """The format of the same frames with checks in them."""

    def seal(
        payload: Payload,
        secret: Secret,
        agreement_digest: bytes,
        entropy: Callable[[int], bytes],
        *,
        pad: bool,
    ) -> bytes:
        return with_checks(frames.seal(payload, secret, agreement_digest, entropy, pad=pad), secret)

    return replace(
        frames,
        seal=seal,
        reader=lambda secret, digest: CheckedFrameReader(frames.reader(secret, digest), secret),
        length_of=lambda size: _length_with_checks(frames.length_of(size)),
    )


def with_checks(frame: bytes, secret: Secret) -> bytes:
    """A frame with a check after each `SPACING` bytes that others follow.

    Args:
        frame: a sealed message.
        secret: what it was sealed with.
    """
    checked = bytearray(frame[:SPACING])
    for place in range(SPACING, len(frame), SPACING):
        checked += _check(secret, frame[:place]) + frame[place : place + SPACING]
    return bytes(checked)


class CheckedFrameReader:
    """Reads a frame with checks from bits that arrive in order, as `_frame.FrameReader` does.

    Args:
        frame: reads the frame without its checks.
        secret: what the frame was sealed with.
    """

    def __init__(self, frame: AnyFrameReader, secret: Secret) -> None:
        self._frame = frame
        self._secret = secret
        self._bits = BitBuffer()
        self._taken = 0  # bytes that were a check, or went to the frame
        self._refuted = False  # a check was not right

    def fork(self) -> Self:
        """A reader that has read the same bits, and goes on by itself."""
        other = copy(self)
        other._frame, other._bits = self._frame.fork(), self._bits.fork()
        return other

    def feed(self, value: int, count: int) -> None:
        """Append `count` bits, the most significant first. Raises ValueError as `FrameReader`."""
        self._bits.append(value, count)
        while not self.complete and self._taken < len(self._bits.whole):
            self._take(self._bits.whole[self._taken])
            self._taken += 1

    @property
    def bits_needed(self) -> int:
        """How many more bits must come before more is known; 0 once `complete`."""
        return 0 if self.complete else self.least_bits - self._bits.count

    @property
    def complete(self) -> bool:
        """Whether no more bits are needed: the frame is whole, or there is none."""
        return self._refuted or self._frame.complete

    @property
    def least_bits(self) -> int:
        """A lower bound of the frame's length in bits, from what was read of it."""
        return 8 * _length_with_checks(self._frame.least_bits // 8)

    def payload(self, most_bits: int | None = None) -> Payload:
        """The payload in the frame.

        Raises:
            AlteredTextError: a check is not right, or as `FrameReader`.
            IncompleteMessageError: as `FrameReader`.
        """
        if self._refuted:
            raise AlteredTextError(
                f"a check after {len(self._body()):,} bytes of the message does not fit: the key, "
                f"the prompt or another setting is not the one that it was written with, or the "
                f"text was altered"
            )
        return self._frame.payload(most_bits)

    def _take(self, byte: int) -> None:
        if self._taken % (SPACING + 1) == SPACING:
            self._refuted = _check(self._secret, self._body())[0] != byte
        else:
            self._frame.feed(byte, 8)

    def _body(self) -> bytearray:
        """The bytes that went to the frame."""
        body = self._bits.whole[: self._taken]
        del body[SPACING :: SPACING + 1]
        return body


def _length_with_checks(length: int) -> int:
    return length + max(0, length - 1) // SPACING


def _check(secret: Secret, before: bytes | bytearray) -> bytes:
    """The check after the first bytes of a frame."""
    key = secret.derive(bytes(before[: secret.salt_length])).check_key
    return hmac.digest(key, before, sha256)[:1]
