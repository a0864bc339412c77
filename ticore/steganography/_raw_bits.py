"""Raw bits: the jobs of `Steganographer.embed_bits` and `Steganographer.extract_bits`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from .._support.checks import require_integer
from ..codecs import BitSource, StopRule, pack_bits, unpack_bits, zeros
from ..errors import OutsidePoolError
from ._arguments import plain_text
from ._departure import in_received
from ._embedding import Observer, Progress, write_bits
from ._ending import stop_at_once
from ._extraction import read_bits
from ._jobs import Job
from ._results import Embedding
from ._setup import Setup


def bits_embedding(
    setup: Setup,
    bits: Sequence[int],
    stop: StopRule,
    progress: Progress | None = None,
    observer: Observer | None = None,
) -> Job[Embedding]:
    """Hide raw bits in a text: see `Steganographer.embed_bits`."""
    started = time.perf_counter()
    setup = setup.opened()
    data = pack_bits(bits)
    state = yield from setup.begin()
    tail = setup.random_bits if stop == "exact" else zeros
    writer = setup.raw_codec(stop, state).writer(BitSource(data, len(bits), tail))
    # What follows the message would hide its end, which the paper's rule needs.
    finish = setup.ending() if stop == "exact" else stop_at_once
    written = yield from write_bits(
        state, writer, len(bits), finish=finish, progress=progress, observer=observer
    )
    return replace(written, seconds=time.perf_counter() - started)


def bits_extraction(
    setup: Setup, text: str | Embedding, length: int, stop: StopRule
) -> Job[list[int]]:
    """The first bits that a text holds: see `Steganographer.extract_bits`."""
    length = require_integer("length", length, 0)
    if not length:
        return []
    # Bits are not authenticated, so only one reading can be tried.
    setup, reading = next(setup.readers(text))
    received = setup.received(reading)
    state = yield from setup.begin(received.known_ids)
    reader = setup.raw_codec(stop, state).reader()
    value, count = 0, 0

    def take(settled: int, size: int) -> bool:
        nonlocal value, count
        value, count = value << size | settled, count + size
        return stop == "exact" and count >= length

    try:
        yield from read_bits(state, received, reader, take)
    except OutsidePoolError as error:
        raise in_received(error, plain_text(text)) from None
    if count < length:
        rest = reader.remainder(length - count)  # raises before a huge shift
        value, count = value << length - count | rest, length
    return unpack_bits(value >> count - length, length)
