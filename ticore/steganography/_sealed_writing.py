"""Writing a sealed message that can be read: the job of `Steganographer.embed`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..disambiguation._fallback import DeadEndError
from ..errors import BrokenCharacterError, CapacityError, ExtractionError
from ._capacity import NoRoomError
from ._edit_code.job import write_surviving
from ._embedding import BorderlineError, Progress, StalledError, UnendedError, write_bits
from ._jobs import Job
from ._model_coding import coded_by_model, decoded_by_model
from ._padding import largest_size
from ._payload import Packing, Payload
from ._repeatable import is_repeatable
from ._results import Embedding, GivenUp
from ._sealed_reading import PayloadReader, payload_from
from ._setup import Setup
from ._text_state import Follower, OutrunError
from ._token_check import TokenCheck

Check = Literal["tokens", "full"]

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
    setup.sealing_secret()  # refused before the model reads the message
    payload = yield from _packed(setup, message)
    writing = Writing(setup, payload, len(message), check, progress, batch_size, follower)
    return (yield from writing.shortest())


def _packed(setup: Setup, message: bytes) -> Job[Payload]:
    """The payload of a message: the shortest that the settings allow."""
    payload = Payload.of(message)
    data = (yield from coded_by_model(setup, message)) if setup.codes_by_model else None
    if data is None or len(data) >= len(payload.data):
        return payload
    # No check of the text would see it if the model did not repeat its logits here.
    found = yield from decoded_by_model(setup, data)
    return Payload(Packing.BY_MODEL, data) if found == message else payload


@dataclass(frozen=True)
class Writing:
    """How a payload is hidden in a text.

    Attributes:
        setup: of the text.
        payload: of a message, or of a part of it.
        length: bytes of what it was made of, for errors.
        check, progress, batch_size, follower: see `embedding`.
    """

    setup: Setup
    payload: Payload
    length: int
    check: Check
    progress: Progress | None = None
    batch_size: int = 1
    follower: Follower | None = None

    def shortest(self) -> Job[Embedding]:
        """A text that holds the payload: the shortest of as many as the setup says."""
        started, opened = time.perf_counter(), replace(self, setup=self.setup.opened())
        shortest = yield from opened.one()
        for _ in range(self.setup.shortest_of - 1):
            try:
                shortest = yield from opened.one(rival=len(shortest.ids))
            except (OutrunError, CapacityError):
                continue
        if self.follower is not None and self.setup.shortest_of > 1:
            self.follower(shortest.text)
        return replace(shortest, seconds=time.perf_counter() - started)

    def one(self, rival: int | None = None) -> Job[Embedding]:
        """A text that holds the payload, written again until it can be read.

        Args:
            rival: see `TextState`.

        Raises:
            CapacityError: the payload does not fit, or no text that was written can be read.
            OutrunError: the text would be as long as its rival.
        """
        setup = self.setup
        retries = setup.is_portable or setup.disambiguation.searches
        tries, stalled = MORE_TRIES if retries else EMBED_TRIES, 0
        given_up = list[GivenUp]()
        rereads = self.check == "full" or not is_repeatable(
            setup.model, setup.candidates.ids, setup.tolerance, self.batch_size
        )
        for _ in range(tries):
            frame = setup.frames.seal(
                self.payload,
                setup.sealing_secret(),
                setup.agreement.digest(),
                setup.random_bytes,
                pad=setup.pad == "sizes",
            )
            try:
                written, found = yield from self._written_and_read(frame, rereads, rival)
                if found == self.payload:
                    return replace(written, given_up=tuple(given_up))
                given_up.append("misread")  # Another nonce makes another text.
            except BorderlineError:
                given_up.append("borderline")
            except BrokenCharacterError:
                given_up.append("character")
            except ExtractionError:
                given_up.append("misread")
            except NoRoomError as error:
                # A small model may repeat itself for ever, but not every text leads there.
                stalled += 1
                if error.by_chance and stalled < EMBED_TRIES:
                    given_up.append("room")
                    continue
                raise self._no_room(error) from None
            except (StalledError, DeadEndError, UnendedError):
                stalled += 1
                if stalled == EMBED_TRIES:
                    raise
                given_up.append("room")
        raise CapacityError(
            f"{tries} texts were written and none gave the message back: "
            f"{_why_not(setup, given_up)}"
        )

    def _no_room(self, error: NoRoomError) -> CapacityError:
        most = max(
            0, error.fits // 8 - self.setup.frames.overhead_with(self.setup.sealing_secret())
        )
        fits = "at most" if error.bound else "about"
        usually, padded, usual = most, "", ""
        if error.bound:
            usually = 2 * most // 3
            usual = f" and usually about {usually:,}"
        if self.setup.pad == "sizes":
            usually = largest_size(usually)
            padded = f" ({usually:,} if padded; pad='none' does not)"
        return CapacityError(
            f"{error}; {fits} {most:,} bytes{usual} fit that do not compress{padded}, found "
            f"{self.length:,}; embed_parts hides longer messages in several texts",
            fitting_bytes=usually,
        )

    def _written_and_read(
        self, frame: bytes, rereads: bool, rival: int | None
    ) -> Job[tuple[Embedding, Payload]]:
        """A text with this frame in it, and the payload that its reader finds there."""
        setup, progress, follower = self.setup, self.progress, self.follower
        if setup.agreement.edits:
            written, found = yield from write_surviving(setup, frame, progress, follower, rival)
            if rereads:
                found = yield from payload_from(setup, next(setup.readings(written)), None)
            return written, found
        bits = 8 * len(frame)
        halves = _part(progress, 0, bits), _part(progress, bits, bits)
        state = yield from setup.begin(follower=follower, rival=rival)
        read = PayloadReader(setup, None, setup.most_bits)
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
        found = yield from payload_from(setup, reading, halves[1], by_writer=True)
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


def _part(progress: Progress | None, start: int, bits: int) -> Progress | None:
    """A Progress for half of the work: `bits` of 2 x `bits`, of which `start` are done before."""
    if progress is None:
        return None
    return lambda done, _total: progress(start + min(done, bits), 2 * bits)


def _why_not(setup: Setup, given_up: Sequence[GivenUp]) -> str:
    if 2 * given_up.count("borderline") > len(given_up):
        return (
            "in most of them another machine might round a logit differently, which happens with "
            "long messages, and with some prompts; choose another prompt, send a shorter message, "
            "or lower grid_bits or top_k"
        )
    if setup.disambiguation.searches:
        return (
            "they took too long to search, which happens with long messages, or were not valid "
            "UTF-8; send shorter messages, or use 'search:long' or 'stepwise'"
        )
    if not setup.disambiguation.certain:
        return (
            f"the reader finds other tokens, which disambiguation "
            f"{setup.disambiguation.name!r} does not prevent; use 'stepwise'"
        )
    return (
        "the model's logits differ from one run to the next; use one device, one batch size "
        "and float64"
    )
