"""Sealed messages: the jobs of `Steganographer.embed` and `Steganographer.extract`."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Literal

from ..errors import CapacityError, ExtractionError
from ._capacity import NoRoomError
from ._embedding import BorderlineError, Progress, StalledError, write_bits
from ._extraction import read_bits
from ._frame import FrameReader, frame_overhead, seal
from ._jobs import Job
from ._repeatable import is_repeatable
from ._results import Embedding
from ._setup import Setup
from ._token_check import TokenCheck

Check = Literal["tokens", "full"]

EMBED_TRIES = 4
PORTABLE_TRIES = 64  # most texts of a thousand tokens need one try; long ones need some more


def embedding(
    setup: Setup, message: bytes, check: Check, progress: Progress | None, batch_size: int = 1
) -> Job[Embedding]:
    """Hide a message in a text. Arguments and errors are those of `Steganographer.embed`.

    Args:
        setup, message, check, progress: see there.
        batch_size: how many texts are read side by side.
    """
    secret, started = setup.sealing_secret(), time.perf_counter()
    tries, stalled = PORTABLE_TRIES if setup.is_portable else EMBED_TRIES, 0
    rereads = check == "full" or not is_repeatable(
        setup.model, setup.candidates.ids, setup.tolerance, batch_size
    )
    for _ in range(tries):
        frame = seal(message, secret, setup.agreement.digest(), setup.entropy)
        try:
            written, found = yield from _written_and_read(setup, frame, rereads, progress)
            if found == message:
                return replace(written, seconds=time.perf_counter() - started)
        except (BorderlineError, ExtractionError):
            continue  # Another nonce makes another text.
        except NoRoomError as error:
            # A small model may repeat itself for ever, but not every text leads there.
            stalled += 1
            if error.by_chance and stalled < EMBED_TRIES:
                continue
            most = max(0, error.fits // 8 - frame_overhead(secret))
            fits = "at most" if error.bound else "about"
            raise CapacityError(
                f"{error}; {fits} {most:,} bytes fit that do not compress, found {len(message):,}"
            ) from None
        except StalledError:
            stalled += 1
            if stalled == EMBED_TRIES:
                raise
    raise CapacityError(
        f"{tries} texts were written and none gave the message back: {_why_not(setup)}"
    )


def extraction(setup: Setup, text: str | Embedding, progress: Progress | None) -> Job[bytes]:
    """The message that a text holds: see `Steganographer.extract`."""
    errors = list[ExtractionError]()
    for reading in setup.readings(text):
        try:
            return (yield from _extraction_from(setup, reading, progress))
        except ExtractionError as error:
            errors.append(error)
    raise errors[0]


def _extraction_from(setup: Setup, text: str, progress: Progress | None) -> Job[bytes]:
    """The message that begins where this text does."""
    message = _MessageReader(setup, progress)
    received = setup.received(text)
    state = yield from setup.begin(received.known_ids)
    message.most = state.most_bits
    yield from read_bits(state, received, setup.frame_reader(), message.take)
    return message.message()


def _written_and_read(
    setup: Setup, frame: bytes, rereads: bool, progress: Progress | None
) -> Job[tuple[Embedding, bytes]]:
    """A text with this frame in it, and the message that its reader finds there."""
    bits = 8 * len(frame)
    halves = _part(progress, 0, bits), _part(progress, bits, bits)
    state = yield from setup.begin()
    read = _MessageReader(setup, None, state.most_bits)
    check = None if rereads else TokenCheck(setup.frame_reader(), read.take)
    written = yield from write_bits(
        state,
        setup.frame_writer(frame),
        bits,
        finish=setup.ending(),
        progress=halves[0] if rereads else progress,
        tolerance=setup.tolerance,
        check=check,
    )
    if check is not None:
        received = setup.received(next(setup.readings(written)))
        if check.confirm(received, written.ids):
            return written, read.message()
    found = yield from extraction(setup, written, halves[1])
    return written, found


class _MessageReader:
    """Puts a message together from the bits of its tokens.

    Args:
        setup: of the text.
        progress: see `Progress`.
        most: how many bits the text may carry.
    """

    def __init__(self, setup: Setup, progress: Progress | None, most: int = 0) -> None:
        self.most = most
        self._frame = FrameReader(setup.sealing_secret(), setup.agreement.digest())
        self._progress = progress
        self._read = 0

    def take(self, value: int, count: int) -> bool:
        """See `Take`."""
        self._frame.feed(value, count)
        self._read += count
        if self._progress is not None:
            self._progress(self._read, self._read + self._frame.bits_needed)
        return self._frame.complete or self._frame.least_bits > self.most

    def message(self) -> bytes:
        """The message. Raises ExtractionError."""
        return self._frame.message(self.most)


def _part(progress: Progress | None, start: int, bits: int) -> Progress | None:
    """A Progress for half of the work: `bits` of 2 x `bits`, of which `start` are done before."""
    if progress is None:
        return None
    return lambda done, _total: progress(start + min(done, bits), 2 * bits)


def _why_not(setup: Setup) -> str:
    if not setup.disambiguation.certain:
        return (
            f"the reader finds other tokens, which disambiguation "
            f"{setup.disambiguation.name!r} does not prevent; use 'stepwise'"
        )
    if setup.is_portable:
        return (
            "in each of them another machine might round a logit differently; send a shorter "
            "message, or lower grid_bits or top_k"
        )
    return (
        "the model's logits differ from one run to the next; use one device, one batch size "
        "and float64"
    )
