"""Sealed messages: the jobs of `Steganographer.embed` and `Steganographer.extract`."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Literal

from ..errors import CapacityError, ExtractionError
from ._capacity import NoRoomError
from ._embedding import BorderlineError, Progress, StalledError, write_bits
from ._extraction import read_bits
from ._jobs import Job
from ._model_coding import coded_by_model, decoded_by_model
from ._payload import Packing, Payload
from ._repeatable import is_repeatable
from ._results import Embedding
from ._setup import Setup
from ._step import Follower
from ._token_check import TokenCheck

Check = Literal["tokens", "full"]

EMBED_TRIES = 4
PORTABLE_TRIES = 64  # most texts of a thousand tokens need one try; long ones need some more


def embedding(
    setup: Setup,
    message: bytes,
    check: Check,
    progress: Progress | None,
    batch_size: int = 1,
    follower: Follower | None = None,
) -> Job[Embedding]:
    """Hide a message in a text. Arguments and errors are those of `Steganographer.embed`.

    Args:
        setup, message, check, progress, follower: see there.
        batch_size: how many texts are read side by side.
    """
    secret, started = setup.sealing_secret(), time.perf_counter()
    tries, stalled = PORTABLE_TRIES if setup.is_portable else EMBED_TRIES, 0
    rereads = check == "full" or not is_repeatable(
        setup.model, setup.candidates.ids, setup.tolerance, batch_size
    )
    payload = yield from _packed(setup, message)
    for _ in range(tries):
        frame = setup.frames.seal(
            payload, secret, setup.agreement.digest(), setup.entropy, pad=setup.pad == "sizes"
        )
        try:
            written, found = yield from _written_and_read(setup, frame, rereads, progress, follower)
            if found == payload:
                return replace(written, seconds=time.perf_counter() - started)
        except (BorderlineError, ExtractionError):
            continue  # Another nonce makes another text.
        except NoRoomError as error:
            # A small model may repeat itself for ever, but not every text leads there.
            stalled += 1
            if error.by_chance and stalled < EMBED_TRIES:
                continue
            most = max(0, error.fits // 8 - setup.frames.overhead_with(secret))
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
    payload = yield from _payload_of(setup, text, progress)
    return (yield from _unpacked(setup, payload))


def _payload_of(setup: Setup, text: str, progress: Progress | None) -> Job[Payload]:
    """The payload of the frame that begins where this text does."""
    reader = _PayloadReader(setup, progress)
    received = setup.received(text)
    state = yield from setup.begin(received.known_ids)
    reader.most = state.most_bits
    yield from read_bits(state, received, setup.frame_reader(), reader.take)
    return reader.payload()


def _packed(setup: Setup, message: bytes) -> Job[Payload]:
    """The payload of a message: the shortest that the settings allow."""
    payload = Payload.of(message)
    data = (yield from coded_by_model(setup, message)) if setup.codes_by_model else None
    if data is None or len(data) >= len(payload.data):
        return payload
    # No check of the text would see it if the model did not repeat its logits here.
    found = yield from decoded_by_model(setup, data)
    return Payload(Packing.BY_MODEL, data) if found == message else payload


def _unpacked(setup: Setup, payload: Payload) -> Job[bytes]:
    """The message of a payload. Raises ExtractionError."""
    if payload.packing == Packing.BY_MODEL:
        return (yield from decoded_by_model(setup, payload.data))
    return payload.message()


def _written_and_read(
    setup: Setup,
    frame: bytes,
    rereads: bool,
    progress: Progress | None,
    follower: Follower | None,
) -> Job[tuple[Embedding, Payload]]:
    """A text with this frame in it, and the payload that its reader finds there."""
    bits = 8 * len(frame)
    halves = _part(progress, 0, bits), _part(progress, bits, bits)
    state = yield from setup.begin(follower=follower)
    read = _PayloadReader(setup, None, state.most_bits)
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
            return written, read.payload()
    reading = next(setup.readings(written))
    found = yield from _payload_of(setup, reading, halves[1])
    return written, found


class _PayloadReader:
    """Puts a payload together from the bits of a text's tokens.

    Args:
        setup: of the text.
        progress: see `Progress`.
        most: how many bits the text may carry.
    """

    def __init__(self, setup: Setup, progress: Progress | None, most: int = 0) -> None:
        self.most = most
        self._frame = setup.frames.reader(setup.sealing_secret(), setup.agreement.digest())
        self._progress = progress
        self._read = 0

    def take(self, value: int, count: int) -> bool:
        """See `Take`."""
        self._frame.feed(value, count)
        self._read += count
        if self._progress is not None:
            self._progress(self._read, self._read + self._frame.bits_needed)
        return self._frame.complete or self._frame.least_bits > self.most

    def payload(self) -> Payload:
        """The payload. Raises ExtractionError."""
        return self._frame.payload(self.most)


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
