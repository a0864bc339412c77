"""Jobs: work on a text that needs a model. The model may read that text alone, or many at once.

A job is a generator. It yields what the model has to read, and goes on when that is done:

    NewText([5, 6])   is answered by a Decoder that has read these ids
    17                that Decoder has read this id as well

`run_alone` serves one job, `_lockstep` serves many with one model. So each text is written and read
by the same code either way.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..backend_kit._reading import start_decoder
from ..errors import TicoreError
from ..interfaces import Decoder, LanguageModel, ManyTokenDecoder
from ._block_decoder import BlockDecoder
from ._prescored_decoder import PrescoredDecoder
from ._windowed_decoder import WindowedDecoder

T = TypeVar("T")


@dataclass(frozen=True)
class NewText:
    """Asks for a Decoder. The one before is not used any more.

    Attributes:
        prompt_ids: what it has read.
        known_ids: all that it will read after them, if they are known; else empty.
        at_once: whether their logits may be computed at once, which changes their last bits.
        window: how many of these the model sees before each of them; None: all.
        rewindable: whether the job rewinds the Decoder.
    """

    prompt_ids: Sequence[int]
    known_ids: Sequence[int] = ()
    at_once: bool = False
    window: int | None = None
    rewindable: bool = False


Job = Generator[NewText | int, Decoder | None, T]
"""A job that returns a T."""


def begin_text(text: NewText) -> Job[Decoder]:
    """The part of a job that gets a Decoder."""
    decoder = yield text
    if decoder is None:
        raise TypeError("expected a Decoder in answer to a NewText, found None")
    return decoder


def decoder_of_its_own(model: LanguageModel, text: NewText) -> Decoder | None:
    """The Decoder of a text that no other text is read beside; None if a row of a batch will do.

    Its logits are computed many at once, where that is allowed and fits, or changes no bit.
    """
    if text.rewindable:
        return start_decoder(model, text.prompt_ids)
    known = text.known_ids
    if not known:
        return None
    if not text.at_once:
        decoder = start_decoder(model, text.prompt_ids, rewindable=0)
        return BlockDecoder(decoder, known) if isinstance(decoder, ManyTokenDecoder) else decoder
    if text.window is not None:
        return WindowedDecoder(model, text.prompt_ids, known, text.window)
    if not PrescoredDecoder.fits(model, text.prompt_ids, known):
        return None
    return PrescoredDecoder(model, text.prompt_ids, known)


def run_alone(
    model: LanguageModel, job: Job[T], begin: Callable[[NewText], Decoder] | None = None
) -> T:
    """Serve one job with Decoders of its own. Returns and raises what the job does.

    Args:
        model: that reads.
        job: what to do.
        begin: makes the Decoders; None: each is a new one.
    """
    begin = begin or (lambda text: new_decoder(model, text))
    decoder: Decoder | None = None
    try:
        request = next(job)
        while True:
            if isinstance(request, NewText):
                decoder = begin(request)
                request = job.send(decoder)
            elif decoder is None:
                raise TypeError("expected a NewText before the first id")
            else:
                try:
                    decoder.push(request)
                except TicoreError as error:
                    request = job.throw(error)
                else:
                    request = next(job)
    except StopIteration as end:
        result: T = end.value
        return result


def new_decoder(model: LanguageModel, text: NewText) -> Decoder:
    """A Decoder as it is asked for, which nothing else uses."""
    # Nobody goes back in a text, unless it says so: then no logits but the last need memory.
    own = decoder_of_its_own(model, text)
    return own or start_decoder(model, text.prompt_ids, rewindable=0)
