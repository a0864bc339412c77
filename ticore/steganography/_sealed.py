"""Sealed messages: the jobs of `Steganographer.embed` and `Steganographer.extract`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from ..errors import (
    CapacityError,
    ExtractionError,
    IncompleteMessageError,
    OutsidePoolError,
)
from ._arguments import plain_text
from ._capacity import NoRoomError
from ._departure import furthest, in_received
from ._edit_code.job import read_surviving, write_surviving
from ._embedding import BorderlineError, Progress, StalledError, write_bits
from ._extraction import read_bits
from ._jobs import Job
from ._model_coding import coded_by_model, decoded_by_model
from ._padding import largest_size
from ._parts import Part, join
from ._payload import Packing, Payload
from ._repeatable import is_repeatable
from ._results import Embedding
from ._search import searched, searched_by_writer
from ._setup import Setup
from ._step import Follower, KnownSteps, OutrunError
from ._token_check import TokenCheck

Check = Literal["tokens", "full"]

Search = Callable[[Setup, str], Job[Payload | None]]
"""`searched` or `searched_by_writer`."""

EMBED_TRIES = 4
# Where chance decides whether a text can be sent, most of a thousand tokens need one try.
MORE_TRIES = 64


def embedding(
    setup: Setup,
    message: bytes,
    check: Check,
    progress: Progress | None,
    batch_size: int = 1,
    topic: str | None = None,
    follower: Follower | None = None,
) -> Job[Embedding]:
    """Hide a message in a text. Arguments and errors are those of `Steganographer.embed`.

    Args:
        setup, message, check, progress, follower: see there.
        batch_size: how many texts are read side by side.
        topic: see `Steganographer.embed`.
    """
    setup = setup.opened(topic)
    payload = yield from _packed(setup, message)
    return (
        yield from payload_embedding(
            setup, payload, check, progress, batch_size, len(message), follower
        )
    )


def payload_embedding(
    setup: Setup,
    payload: Payload,
    check: Check,
    progress: Progress | None,
    batch_size: int,
    length: int,
    follower: Follower | None = None,
) -> Job[Embedding]:
    """Hide a payload in a text, or in some of which the shortest is taken.

    Args:
        setup, check, progress, batch_size, follower: see `embedding`.
        payload: of a message, or of a part of it.
        length: bytes of what it was made of, for errors.
    """
    setup, started = setup.opened(), time.perf_counter()
    settings = setup, payload, check, progress, batch_size, length, follower
    shortest = yield from _one_embedding(*settings)
    for _ in range(setup.shortest_of - 1):
        try:
            shortest = yield from _one_embedding(*settings, rival=len(shortest.ids))
        except (OutrunError, CapacityError):
            continue
    if follower is not None and setup.shortest_of > 1:
        follower(shortest.text)
    return replace(shortest, seconds=time.perf_counter() - started)


def _one_embedding(
    setup: Setup,
    payload: Payload,
    check: Check,
    progress: Progress | None,
    batch_size: int,
    length: int,
    follower: Follower | None,
    rival: int | None = None,
) -> Job[Embedding]:
    """Hide a payload in one text. Arguments are those of `payload_embedding`.

    Args:
        rival: see `TextState`.

    Raises:
        OutrunError: the text would be as long as its rival.
    """
    secret = setup.sealing_secret()
    retries = setup.is_portable or setup.disambiguation.searches
    tries, stalled = MORE_TRIES if retries else EMBED_TRIES, 0
    rereads = check == "full" or not is_repeatable(
        setup.model, setup.candidates.ids, setup.tolerance, batch_size
    )
    for _ in range(tries):
        frame = setup.frames.seal(
            payload, secret, setup.agreement.digest(), setup.entropy, pad=setup.pad == "sizes"
        )
        try:
            written, found = yield from _written_and_read(
                setup, frame, rereads, progress, follower, rival
            )
            if found == payload:
                return written
        except (BorderlineError, ExtractionError):
            continue  # Another nonce makes another text.
        except NoRoomError as error:
            # A small model may repeat itself for ever, but not every text leads there.
            stalled += 1
            if error.by_chance and stalled < EMBED_TRIES:
                continue
            most = max(0, error.fits // 8 - setup.frames.overhead_with(secret))
            fits = "at most" if error.bound else "about"
            padded = ""
            if setup.pad == "sizes":
                padded = f" ({largest_size(most):,} if padded; pad='none' does not)"
            raise CapacityError(
                f"{error}; {fits} {most:,} bytes fit that do not compress{padded}, found "
                f"{length:,}; embed_parts hides longer messages in several texts"
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
    reader, payload = yield from payload_of(setup, text, progress)
    return (yield from message_of(reader, payload))


def payload_of(
    setup: Setup, text: str | Embedding, progress: Progress | None
) -> Job[tuple[Setup, Payload]]:
    """The payload that a text holds, and the setup of this text.

    Raises:
        ExtractionError, WrongTypeError: as `Steganographer.extract`.
    """
    errors = list[ExtractionError]()
    for reader, reading in setup.readers(text):
        try:
            payload = yield from payload_from(reader, reading, progress)
            return reader, payload
        except ExtractionError as error:
            errors.append(error)
    raise _furthest(errors, plain_text(text))


def _furthest(errors: Sequence[ExtractionError], received: str) -> ExtractionError:
    """Of the errors of some readings the one to report: of the first, or of one that got further.

    A reading without a place, such as one that ends too early, says nothing of how right it was.
    """
    first = errors[0]
    if not isinstance(first, OutsidePoolError):
        return first
    placed = [error for error in errors if isinstance(error, OutsidePoolError)]
    return in_received(furthest(placed), received)


def payload_from(
    setup: Setup,
    text: str,
    progress: Progress | None,
    known: KnownSteps | None = None,
    search: Search = searched,
) -> Job[Payload]:
    """The payload of the frame that begins where this text does, or of what edits left of it.

    Args:
        setup, text, progress: see `extraction`.
        known: see `TextState`.
        search: looks for other tokens than the tokenizer's, if texts are to be searched.
    """
    if setup.agreement.edits:
        return (yield from read_surviving(setup, text, progress))
    try:
        return (yield from _payload_as_received(setup, text, progress, known))
    except ExtractionError as error:
        if not setup.disambiguation.searches:
            raise
        failure = error
    found = yield from search(setup, text)
    if found is None:
        raise failure
    return found


def _payload_as_received(
    setup: Setup, text: str, progress: Progress | None, known: KnownSteps | None
) -> Job[Payload]:
    """The payload of the tokens that are found in a text. Arguments as in `payload_from`."""
    reader = _PayloadReader(setup, progress)
    received = setup.received(text)
    state = yield from setup.begin(received.known_ids, known)
    reader.most = setup.most_bits
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


def message_of(setup: Setup, payload: Payload) -> Job[bytes]:
    """The message of a payload. Raises ExtractionError."""
    if payload.packing == Packing.PART:
        part = Part.of(payload)
        if part.count > 1:
            raise IncompleteMessageError(
                f"expected a whole message, found part {part.number:,} of {part.count:,}; read the "
                f"texts of all parts with extract_parts"
            )
        payload = join([part])
    if payload.packing == Packing.BY_MODEL:
        return (yield from decoded_by_model(setup, payload.data))
    return payload.message()


def _written_and_read(
    setup: Setup,
    frame: bytes,
    rereads: bool,
    progress: Progress | None,
    follower: Follower | None,
    rival: int | None,
) -> Job[tuple[Embedding, Payload]]:
    """A text with this frame in it, and the payload that its reader finds there."""
    if setup.agreement.edits:
        written, found = yield from write_surviving(setup, frame, progress, follower, rival)
        if rereads:
            found = yield from payload_from(setup, next(setup.readings(written)), None)
        return written, found
    bits = 8 * len(frame)
    halves = _part(progress, 0, bits), _part(progress, bits, bits)
    state = yield from setup.begin(follower=follower, rival=rival)
    read = _PayloadReader(setup, None, setup.most_bits)
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
    reading = next(setup.readings(written))
    if check is not None and _confirmed(setup, check, reading, written):
        return written, read.payload()
    found = yield from payload_from(setup, reading, halves[1], search=searched_by_writer)
    return written, found


def _confirmed(setup: Setup, check: TokenCheck, reading: str, written: Embedding) -> bool:
    """Whether a reader has read the written tokens while they were written.

    Raises:
        ExtractionError: it finds others, and does not search.
    """
    try:
        return check.confirm(setup.received(reading), written.ids)
    except ExtractionError:
        if setup.disambiguation.searches:
            return False
        raise


class _PayloadReader:
    """Puts a payload together from the bits of a text's tokens.

    Args:
        setup: of the text.
        progress: see `Progress`.
        most: how many bits the text may carry.
    """

    def __init__(self, setup: Setup, progress: Progress | None, most: int = 0) -> None:
        self.most = most
        self._frame = setup.new_frame()
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
    if setup.disambiguation.searches:
        return (
            "they took too long to search, which happens with long messages, or were not valid "
            "UTF-8; send shorter messages, or use 'search:invalid' or 'stepwise'"
        )
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
