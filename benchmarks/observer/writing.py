"""Sealed texts, and free ones: the same loop and the same ending, with a plain sampler."""

from __future__ import annotations

import random
from collections.abc import Callable

import ticore
from benchmarks._harness.sampling import drawn
from ticore.candidates import Ints
from ticore.codecs import Reader
from ticore.steganography._embedding import write_bits
from ticore.steganography._jobs import Job
from ticore.steganography._payload import Payload
from ticore.steganography._setup import Setup

Entropy = Callable[[int], bytes]


class PlainSampler:
    """A Writer without a message: each choice is drawn by its weight, and nothing is coded.

    Attributes:
        settled: how many bits the choices so far would have carried.

    Args:
        draw: draws.
        reader: counts the bits.
    """

    def __init__(self, draw: random.Random, reader: Reader) -> None:
        self._draw = draw
        self._reader = reader
        self.settled = 0

    def choose(self, weights: Ints) -> int:
        """See `Writer.choose`."""
        index = drawn(weights, self._draw)
        _, count = self._reader.observe(weights, index)
        self.settled += count
        return index


class UntilBits(PlainSampler):
    """Done after as many bits as a message has: where a Writer of this message would be done."""

    def __init__(self, draw: random.Random, reader: Reader, bits: int) -> None:
        super().__init__(draw, reader)
        self._bits = bits

    @property
    def done(self) -> bool:
        """See `Writer.done`."""
        return self.settled >= self._bits


class UntilTokens(PlainSampler):
    """Done after a number of tokens."""

    def __init__(self, draw: random.Random, reader: Reader, count: int) -> None:
        super().__init__(draw, reader)
        self._left = count

    @property
    def done(self) -> bool:
        """See `Writer.done`."""
        return self._left <= 0

    def choose(self, weights: Ints) -> int:
        """See `Writer.choose`."""
        self._left -= 1
        return super().choose(weights)


def frame_bits(setup: Setup, size: int, entropy: Entropy) -> int:
    """How many bits a sealed message of `size` random bytes takes."""
    payload = Payload.of(entropy(size))
    secret, digest = setup.sealing_secret(), setup.agreement.digest()
    return 8 * len(setup.frames.seal(payload, secret, digest, entropy, pad=setup.pad == "sizes"))


def free_text(setup: Setup, draw: random.Random, bits: int) -> Job[ticore.Embedding]:
    """A free sample as long as one that carries `bits` random bits, with the setup's ending."""
    state = yield from setup.begin()
    writer = UntilBits(draw, setup.codec.make().reader(), bits)
    return (yield from write_bits(state, writer, bits, finish=setup.ending(), progress=None))


def free_text_of_length(setup: Setup, draw: random.Random, tokens: int) -> Job[ticore.Embedding]:
    """A free sample of `tokens` tokens, and then the setup's ending."""
    state = yield from setup.begin()
    writer = UntilTokens(draw, setup.codec.make().reader(), tokens)
    # No bits are due, so it cannot be said early that they do not fit.
    return (yield from write_bits(state, writer, 0, finish=setup.ending(), progress=None))
