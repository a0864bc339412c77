"""The methods of a Steganographer for messages that take several texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar, get_args

from .._support.checks import require_integer, require_one_of
from ..errors import CapacityError, ExtractionError, MissingPartsError, TicoreError
from ._arguments import checked_message, plain_text, several
from ._embedding import Progress
from ._jobs import Job, run_alone
from ._lockstep import run_together
from ._parts import OVERHEAD, Part, join, split
from ._pasted import PayloadRead, Recovered, payload_of_pasted
from ._payload import Payload
from ._results import Embedding
from ._sealed_reading import message_of, payload_of
from ._sealed_writing import Check, Writing
from ._setup import Setup

T = TypeVar("T")

# Of the bits that a step can carry at most, most models carry more.
_USUAL_SHARE = 0.4
_LARGEST_PART = 1024


class LongMessages:
    """A base class of `Steganographer`."""

    _setup: Setup

    def embed_parts(
        self,
        message: bytes,
        *,
        part_size: int | None = None,
        check: Check = "tokens",
        topic: str | None = None,
        batch_size: int = 32,
        progress: Progress | None = None,
    ) -> list[Embedding]:
        """Hide a message of any length in several texts, one for each part.

        Args:
            message: any bytes.
            part_size: bytes of the message in each text; None: what fits the model's context in
                most texts, up to 1,024. If a text has no room for them, all texts are written again
                with half of that.
            check: see `embed`.
            topic: what the texts' openings are about, see `embed`.
            batch_size: with `portable` numerics, how many texts are written side by side.
            progress: called as `progress(done, total)` after each text, or each batch of texts.

        Returns:
            The texts. They may be sent and read in any order.

        Raises:
            CapacityError: not even a byte fits.
            CredentialError: there is no key and no password.
            SettingsError: `part_size` or `batch_size` is below 1, or the check or topic is unknown.
            WrongTypeError: the message is not bytes.
        """
        message = checked_message(message)
        require_one_of("check", check, get_args(Check))
        batch_size = require_integer("batch_size", batch_size, 1)
        setup = self._setup
        setup.sealing_secret()
        setup.openers_about(topic)  # refused here, and not when the first text is written
        size = (
            _usual_size(setup) if part_size is None else require_integer("part_size", part_size, 1)
        )
        payload = Payload.of(message)
        size = min(size, max(1, len(payload.data)))  # a larger one would be the same single part
        while True:
            parts = split(payload, size, setup.random_bytes)
            try:
                return _written(setup, parts, check, topic, batch_size, progress)
            except CapacityError as error:
                if size == 1:
                    raise CapacityError(f"not even a part of 1 byte: {error}") from error
                size //= 2

    def extract_parts(
        self,
        texts: Sequence[str | Embedding],
        *,
        batch_size: int = 32,
        progress: Progress | None = None,
    ) -> bytes:
        """The message of several texts that `embed_parts` wrote, in any order.

        A text that cannot be read does no harm if the others hold all parts.

        Args:
            texts: what was received.
            batch_size, progress: see `embed_parts`.

        Raises:
            MissingPartsError: parts are missing; the error says which, and why texts could not be
                read.
            ExtractionError: no text can be read, or the texts hold parts of several messages.
            CredentialError: there is no key and no password.
            WrongTypeError: `texts` is no list, or a text is not a str.
        """
        setup = self._setup
        jobs = [lambda text=text: _as_received(setup, text) for text in several("texts", texts)]
        return _joined(setup, jobs, batch_size, progress).message

    def extract_parts_pasted(
        self,
        texts: Sequence[str | Embedding],
        *,
        batch_size: int = 32,
        progress: Progress | None = None,
    ) -> Recovered:
        """As `extract_parts`, but also if programs changed texts on their way.

        For each text that cannot be read as it is, the readings of `extract_pasted` are tried, but
        no single small change is undone.

        Args:
            texts, batch_size, progress: see `extract_parts`.

        Returns:
            The message, and what had to be undone in one text or more.

        Raises:
            MissingPartsError, ExtractionError, CredentialError, WrongTypeError: as `extract_parts`.
        """
        setup = self._setup
        plain = map(plain_text, several("texts", texts))
        jobs = [lambda text=text: payload_of_pasted(setup, text) for text in plain]
        return _joined(setup, jobs, batch_size, progress)


def _as_received(setup: Setup, text: str | Embedding) -> Job[PayloadRead]:
    reader, payload = yield from payload_of(setup, text, None)
    return reader, payload, ()


def _joined(
    setup: Setup,
    jobs: Sequence[Callable[[], Job[PayloadRead]]],
    batch_size: int,
    progress: Progress | None,
) -> Recovered:
    """The message whose parts these jobs read. Raises as `LongMessages.extract_parts`."""
    batch_size = require_integer("batch_size", batch_size, 1)
    setup.sealing_secret()
    found = _carried_out(setup, jobs, batch_size, progress)
    parts, readers, errors = list[Part](), list[Setup](), list[str]()
    undone = dict[str, None]()  # in their order
    for number, each in enumerate(found, start=1):
        if isinstance(each, ExtractionError):
            errors.append(f"text {number}: {each}")
        elif isinstance(each, TicoreError):
            raise each
        else:
            reader, part, changes = each
            readers.append(reader)
            parts.append(Part.of(part))
            undone.update(dict.fromkeys(changes))
    if errors and not parts:
        raise ExtractionError("; ".join(errors[:3]))
    try:
        payload = join(parts)
    except MissingPartsError as error:
        raise MissingPartsError("; ".join([str(error), *errors[:3]]), error.missing) from None
    # Only the payload of a whole message may depend on the text that it is in.
    return Recovered(run_alone(setup.model, message_of(readers[0], payload)), tuple(undone))


def _usual_size(setup: Setup) -> int:
    """Bytes of data that fit most texts."""
    most = _USUAL_SHARE * setup.most_bits / 8
    around = OVERHEAD + setup.frames.overhead_with(setup.sealing_secret())
    # Padding adds a quarter at most.
    return max(1, min(_LARGEST_PART, int(0.8 * most) - around))


def _written(
    setup: Setup,
    parts: Sequence[Part],
    check: Check,
    topic: str | None,
    batch_size: int,
    progress: Progress | None,
) -> list[Embedding]:
    side_by_side = min(batch_size, len(parts)) if setup.is_portable else 1
    jobs = [
        Writing(
            setup if topic is None else setup.opened(topic),
            part.payload(),
            len(part.data),
            check,
            batch_size=side_by_side,
        ).shortest
        for part in parts
    ]
    found = list[Embedding]()
    for each in _carried_out(setup, jobs, batch_size, progress):
        if isinstance(each, TicoreError):
            raise each
        found.append(each)
    return found


def _carried_out(
    setup: Setup,
    jobs: Sequence[Callable[[], Job[T]]],
    batch_size: int,
    progress: Progress | None,
) -> Iterator[T | TicoreError]:
    """The results of jobs in order: side by side where the numerics allow that."""
    size = batch_size if setup.is_portable else 1
    for first in range(0, len(jobs), size):
        some = [job() for job in jobs[first : first + size]]
        if setup.is_portable:
            yield from run_together(setup.model, some, len(some))
        else:
            # A row of a batch, even of one, may have other bits than the Decoder of its reader.
            yield from (_result_of(setup, job) for job in some)
        if progress is not None:
            progress(min(first + size, len(jobs)), len(jobs))


def _result_of(setup: Setup, job: Job[T]) -> T | TicoreError:
    try:
        return run_alone(setup.model, job)
    except TicoreError as error:
        return error
