"""Raw bits: the jobs of `Steganographer.embed_bits` and `Steganographer.extract_bits`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .._support.checks import require_integer
from ..codecs import BitSource, StopRule, pack_bits, zeros
from ..errors import CapacityError, ExtractionError, OutsidePoolError
from ._arguments import plain_text
from ._checked_bits import CheckedBits, with_checksum
from ._departure import in_received
from ._embedding import Observer, Progress, write_bits
from ._ending import stop_at_once
from ._extraction import read_bits
from ._jobs import Job
from ._results import Embedding
from ._search import searched
from ._setup import Setup
from ._sought import take_rest


@dataclass(frozen=True)
class BitsFormat:
    """How raw bits stand in a text.

    Attributes:
        stop: see `Steganographer.embed_bits`.
        checksum: how many bits their checksum has, which follows them.
    """

    stop: StopRule
    checksum: int = 0


def bits_embedding(
    setup: Setup,
    bits: Sequence[int],
    form: BitsFormat,
    progress: Progress | None = None,
    observer: Observer | None = None,
) -> Job[Embedding]:
    """Hide raw bits in a text: see `Steganographer.embed_bits`."""
    started = time.perf_counter()
    setup = setup.opened()
    sent = with_checksum(bits, setup.checksum_bits(form.checksum))
    state = yield from setup.begin()
    tail = setup.random_bits if form.stop == "exact" else zeros
    source = BitSource(pack_bits(sent), len(sent), tail)
    writer = setup.raw_codec(form.stop, state).writer(source)
    # What follows the message would hide its end, which the paper's rule needs.
    finish = setup.ending() if form.stop == "exact" else stop_at_once
    try:
        written = yield from write_bits(
            state, writer, len(sent), finish=finish, progress=progress, observer=observer
        )
        if setup.disambiguation.searches:
            yield from _require_found(setup, written, list(bits), form)
    except ExtractionError as error:
        raise _unreadable(str(error)) from error
    return replace(written, seconds=time.perf_counter() - started)


def _require_found(
    setup: Setup, written: Embedding, bits: list[int], form: BitsFormat
) -> Job[None]:
    """Search as the reader will, unless it needs no search.

    Raises:
        CapacityError: it would find other bits.
        ExtractionError: it would find none.
    """
    reading = next(setup.readings(written))
    if setup.received(reading).known_ids == list(written.ids):
        return
    found = yield from _bits_of(setup, reading, len(bits), form, by_writer=True)
    if found != bits:
        raise _unreadable("other tokens that spell the text have bits with their checksum, too")


def _unreadable(why: str) -> CapacityError:
    return CapacityError(
        f"expected a text whose reader finds the bits, found one that it cannot search: {why}; "
        f"give other bits, another prompt, or disambiguation='stepwise'"
    )


def bits_extraction(
    setup: Setup, text: str | Embedding, length: int, form: BitsFormat
) -> Job[list[int]]:
    """The first bits that a text holds: see `Steganographer.extract_bits`."""
    length = require_integer("length", length, 0)
    setup.checksum_bits(form.checksum)
    plain_text(text)  # raises an error for what is no text
    if not length and not form.checksum:
        return []
    # Bits are not authenticated, so only one reading can be tried.
    setup, reading = next(setup.readers(text))
    try:
        return (yield from _bits_of(setup, reading, length, form))
    except OutsidePoolError as error:
        raise in_received(error, plain_text(text)) from None


def _bits_of(
    setup: Setup, reading: str, length: int, form: BitsFormat, *, by_writer: bool = False
) -> Job[list[int]]:
    """The bits of a text as it is read. Raises ExtractionError."""
    try:
        return (yield from _bits_as_received(setup, reading, length, form))
    except ExtractionError as error:
        if not setup.disambiguation.searches:
            raise
        failure = error
    reader, sought = setup.raw_codec(form.stop).reader(), CheckedBits(length, form.checksum)
    found = yield from searched(setup, reading, reader, sought, None, by_writer=by_writer)
    if found is None:
        raise failure
    return found


def _bits_as_received(setup: Setup, reading: str, length: int, form: BitsFormat) -> Job[list[int]]:
    """The bits of the tokens that are found in a text. Raises ExtractionError."""
    received = setup.received(reading)
    state = yield from setup.begin(received.known_ids)
    reader = setup.raw_codec(form.stop, state).reader()
    bits = CheckedBits(length, form.checksum)

    def take(value: int, count: int) -> bool:
        bits.feed(value, count)
        return form.stop == "exact" and bits.complete

    yield from read_bits(state, received, reader, take)
    take_rest(bits, reader)
    return bits.payload()
