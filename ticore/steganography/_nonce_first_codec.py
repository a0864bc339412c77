"""A sealed message under a keyed codec: first its nonce by arithmetic coding, then the rest.

A keyed codec, or a keyed disambiguation, draws random numbers that both sides share. They need a
key that serves one text alone. It is derived from the secret and a nonce: the first bytes of the
frame, which look random anyway, so that the message becomes no longer.

    writer   nonce by ArithmeticCodec | begin_rest() | rest by the keyed codec
    reader   nonce by ArithmeticCodec | begin_rest() | rest by the keyed codec

The loops that write and read call `rest_begun` after each choice.
"""

from __future__ import annotations

from copy import copy
from typing import Self

from .._support.shared_randomness import SharedRandomness
from ..codecs import (
    ArithmeticCodec,
    BitSource,
    Codec,
    CodecSpec,
    RandomBits,
    Reader,
    Weights,
    Writer,
    forked,
)
from ._frame_formats import FrameFormat
from ._keys import Secret

FOR_CODEC, FOR_DISAMBIGUATION = "codec", "disambiguation"


class NonceFirstWriter:
    """A Writer of one sealed message.

    Args:
        codec: writes what follows the nonce.
        frames: the format of the frame.
        secret: what the frame was sealed with.
        frame: the sealed message.
        tail: random bits after the message.
    """

    def __init__(
        self,
        codec: CodecSpec,
        frames: FrameFormat,
        secret: Secret,
        frame: bytes,
        tail: RandomBits,
    ) -> None:
        size = frames.nonce_length(secret)
        self._frames = frames
        self._codec, self._secret, self._tail = codec, secret, tail
        self._nonce, self._rest = frame[:size], frame[size:]
        self._in_nonce, self._settled_before = True, 0
        self._writer: Writer = ArithmeticCodec().writer(self._source(self._nonce))

    @property
    def done(self) -> bool:
        return not self._in_nonce and self._writer.done

    @property
    def settled(self) -> int:
        return self._settled_before + self._writer.settled

    @property
    def nonce_done(self) -> bool:
        """The nonce is written, and `begin_rest` has to be called before the next choice."""
        return self._in_nonce and self._writer.done

    def begin_rest(self) -> SharedRandomness:
        """Go on with the keyed codec. Returns the random numbers of the disambiguation."""
        codec, numbers = _rest(self._codec, self._frames, self._secret, self._nonce)
        self._writer = codec.writer(self._source(self._rest))
        self._in_nonce, self._settled_before = False, 8 * len(self._nonce)
        return numbers

    def choose(self, weights: Weights) -> int:
        return self._writer.choose(weights)

    def _source(self, data: bytes) -> BitSource:
        return BitSource(data, 8 * len(data), self._tail)


class NonceFirstReader:
    """A Reader of what a `NonceFirstWriter` wrote; a ForkingReader if those of the codec are.

    Args:
        codec: reads what follows the nonce.
        frames: the format of the frame.
        secret: what the frame was sealed with.
    """

    def __init__(self, codec: CodecSpec, frames: FrameFormat, secret: Secret) -> None:
        self._frames = frames
        self._codec, self._secret = codec, secret
        self._nonce_bits = 8 * frames.nonce_length(secret)
        self._value, self._count = 0, 0  # what was read of the nonce
        self._in_nonce = True
        self._reader: Reader = ArithmeticCodec().reader()

    @property
    def nonce_done(self) -> bool:
        """The nonce is read, and `begin_rest` has to be called before the next choice."""
        return self._in_nonce and self._count == self._nonce_bits

    def begin_rest(self) -> SharedRandomness:
        """Go on with the keyed codec. Returns the random numbers of the disambiguation."""
        nonce = self._value.to_bytes(self._nonce_bits // 8)
        codec, numbers = _rest(self._codec, self._frames, self._secret, nonce)
        self._reader = codec.reader()
        self._in_nonce = False
        return numbers

    def fork(self) -> Self:
        other = copy(self)
        other._reader = forked(self._reader)
        return other

    def observe(self, weights: Weights, index: int) -> tuple[int, int]:
        value, count = self._reader.observe(weights, index)
        if not self._in_nonce:
            return value, count
        # The bits that the first codec settles beyond the nonce are its random tail.
        beyond = max(0, self._count + count - self._nonce_bits)
        value, count = value >> beyond, count - beyond
        self._value, self._count = self._value << count | value, self._count + count
        return value, count

    def remainder(self, count: int) -> int:
        return self._reader.remainder(count)


def rest_begun(codec: Writer | Reader) -> SharedRandomness | None:
    """Begin the rest if the nonce has just been done; the random numbers of the disambiguation.

    None otherwise, and for a codec that is not keyed.
    """
    if isinstance(codec, NonceFirstWriter | NonceFirstReader) and codec.nonce_done:
        return codec.begin_rest()
    return None


def _rest(
    codec: CodecSpec, frames: FrameFormat, secret: Secret, nonce: bytes
) -> tuple[Codec, SharedRandomness]:
    """The keyed codec of what follows a nonce, and the random numbers of the disambiguation."""
    key = frames.shared_key(secret, nonce)
    keyed = codec.make(randomness=SharedRandomness(key, FOR_CODEC))
    return keyed, SharedRandomness(key, FOR_DISAMBIGUATION)
