"""Writing a frame that survives edits, and reading what is left of it."""

from __future__ import annotations

from collections.abc import Sequence

from ..._support.utf8 import require_unicode
from ...errors import (
    AlteredTextError,
    CapacityError,
    ExtractionError,
    SettingsError,
)
from .._embedding import Progress, write_bits
from .._jobs import Job
from .._payload import Payload
from .._results import Embedding
from .._setup import Setup
from .._text_state import Follower
from .evidence import Clue, bounds_of, doubt_of, frames_of, most_bits
from .session import ForgivingSession
from .trellis import numbers_of_states
from .windows import KeyedWindows
from .writer import EditCodeWriter

MOST_FRAME_BYTES = 1024
"""A longer frame would take hundreds of megabytes to read; `embed_parts` takes several texts."""

_KEY_OF_WINDOWS = b"windows of edited texts"


def write_surviving(
    setup: Setup,
    frame: bytes,
    progress: Progress | None,
    follower: Follower | None,
    rival: int | None,
) -> Job[tuple[Embedding, Payload]]:
    """A text with a frame in it that is read after edits, as many as the agreement says.

    What the reader finds where nothing was edited is known without the model: the same tokens after
    the same windows, and so the same clues.

    Args:
        setup: of the text; its agreement has a share of edits and a window.
        frame: what to write.
        progress, follower: see `Steganographer.embed`.
        rival: see `TextState`.

    Returns:
        The text, and the payload that its reader finds.

    Raises:
        CapacityError: the frame is too long, or the model leaves no choice.
        CredentialError: there is no key.
        ExtractionError: the reader of the text does not find the frame.
        OutrunError: the text would be as long as its rival.
    """
    windows = _windows_of(setup)
    if len(frame) > MOST_FRAME_BYTES:
        raise CapacityError(
            f"a text that survives edits takes at most about "
            f"{MOST_FRAME_BYTES - setup.frames.overhead:,} bytes after padding, found "
            f"{len(frame) - setup.frames.overhead:,}; embed_parts hides longer messages in several "
            f"texts"
        )
    text = yield from setup.begin(follower=follower, rival=rival)
    writer = EditCodeWriter(
        frame, windows, text.ids, setup.agreement.edits, _size(setup), setup.random_bits
    )
    written = yield from write_bits(
        text, writer, 8 * len(frame), finish=setup.ending(), progress=progress
    )
    if tuple(_tokens(setup, next(setup.readings(written)))) != written.ids:
        raise ExtractionError("the reader finds other tokens than those that were written")
    return written, _payload(setup, writer.clues)


def read_surviving(setup: Setup, text: str, progress: Progress | None) -> Job[Payload]:
    """The payload of a text that was perhaps edited.

    Args:
        setup: of the text, as for `write_surviving`.
        text: as it was received.
        progress: see `Steganographer.extract`; the work is counted in tokens.

    Raises:
        AlteredTextError: too little of the text is left, or it was written with other settings.
        CredentialError: there is no key.
    """
    windows = _windows_of(setup)
    return _payload(setup, (yield from _clues(setup, text, windows, progress)))


def _payload(setup: Setup, clues: Sequence[Clue]) -> Payload:
    """The payload that the tokens tell of. Raises AlteredTextError."""
    doubt, told = doubt_of(setup.agreement.edits, _size(setup)), most_bits(clues)
    for length in setup.frames.padded_lengths(MOST_FRAME_BYTES):
        if 8 * length > told:
            break
        for frame in frames_of(clues, length, doubt):
            reader = setup.new_frame()
            reader.feed(int.from_bytes(frame), 8 * length)
            try:
                return reader.payload()
            except ExtractionError:
                continue
    raise AlteredTextError(
        f"no message could be read: either more of the text was edited than the agreement allows "
        f"for ({setup.agreement.edits:g} of its tokens), or the key, the prompt or another setting "
        f"is not the one that it was written with"
    )


def _clues(
    setup: Setup, text: str, windows: KeyedWindows, progress: Progress | None
) -> Job[list[Clue]]:
    """What the tokens of a text tell, as far as they can have been written."""
    found, tokens = list[Clue](), _tokens(setup, text)
    state = yield from setup.begin(tokens, session=ForgivingSession(setup))
    for number, token in enumerate(tokens, start=1):
        if progress is not None:
            progress(number, len(tokens))
        draw = windows.before(state.ids)
        if draw is not None:
            step = yield from state.next_step()
            places = (step.choices.ids == token).nonzero()[0]
            if len(places):
                numbers = numbers_of_states(draw.mixing, draw.mask)
                bounds = bounds_of(step.weights, int(places[0]))
                found.append(Clue.of(draw.place, numbers, bounds))
        state.push(token)
    return found


def _tokens(setup: Setup, text: str) -> list[int]:
    """The tokens after the prompt, or of all of a text whose prompt was edited.

    Raises:
        ExtractionError: it is not valid Unicode, or there are no tokens for some characters.
    """
    try:
        require_unicode(text)
        ids = setup.model.tokenizer.encode(text)
    except SettingsError as error:
        raise ExtractionError(str(error)) from None
    count = len(setup.prompt_ids) if setup.sent else 0
    return ids[count:] if ids[:count] == setup.prompt_ids[:count] else ids


def _windows_of(setup: Setup) -> KeyedWindows:
    """The windows of one text, under the key of all texts. Raises CredentialError."""
    return KeyedWindows(
        setup.sealing_secret().derive(b"").shared_key(_KEY_OF_WINDOWS), _size(setup)
    )


def _size(setup: Setup) -> int:
    """The agreement's window: where there are edits there is one."""
    return setup.agreement.window or 1
