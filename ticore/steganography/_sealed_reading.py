"""Reading a sealed message: the job of `Steganographer.extract`."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ExtractionError, IncompleteMessageError, OutsidePoolError
from ._arguments import plain_text
from ._departure import furthest, in_received
from ._edit_code.job import read_surviving
from ._embedding import Progress
from ._extraction import read_bits
from ._jobs import Job
from ._model_coding import decoded_by_model
from ._parts import Part, join
from ._payload import Packing, Payload
from ._results import Embedding
from ._search import searched
from ._setup import Setup
from ._steps_taken import StepsTaken


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
    known: StepsTaken | None = None,
    *,
    by_writer: bool = False,
) -> Job[Payload]:
    """The payload of the frame that begins where this text does, or of what edits left of it.

    Args:
        setup, text, progress: see `extraction`.
        known: see `TextState`.
        by_writer: see `searched`.
    """
    if setup.agreement.edits:
        return (yield from read_surviving(setup, text, progress))
    try:
        return (yield from _payload_as_received(setup, text, progress, known))
    except ExtractionError as error:
        if not setup.disambiguation.searches:
            raise
        failure = error
    found = yield from searched(
        setup, text, setup.frame_reader(), setup.new_frame(), progress, by_writer=by_writer
    )
    if found is None:
        raise failure
    return found


def _payload_as_received(
    setup: Setup, text: str, progress: Progress | None, known: StepsTaken | None
) -> Job[Payload]:
    """The payload of the tokens that are found in a text. Arguments as in `payload_from`."""
    reader = PayloadReader(setup, progress)
    received = setup.received(text)
    state = yield from setup.begin(received.known_ids, known)
    reader.most = setup.most_bits
    yield from read_bits(state, received, setup.frame_reader(), reader.take)
    return reader.payload()


def message_of(setup: Setup, payload: Payload) -> Job[bytes]:
    """The message of a payload. Raises ExtractionError."""
    if payload.packing == Packing.PART:
        part = Part.of(payload)
        if part.count > 1:
            raise IncompleteMessageError(
                f"expected a whole message, found part {part.number:,} of {part.count:,}; give "
                f"the texts of all parts together (in Python to extract_parts)",
                is_part=True,
            )
        payload = join([part])
    if payload.packing == Packing.BY_MODEL:
        return (yield from decoded_by_model(setup, payload.data))
    return payload.message()


class PayloadReader:
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
