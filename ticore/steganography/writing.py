"""Writing one message into one text: token by token until it is in, then to the sentence's end."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from ..codecs import Writer
from ..errors import CapacityError
from .capacity import Capacity
from .walk import Step, Walk

Observer = Callable[[Step, int], None]
"""`f(step, index)`: sees each step that carries bits, and which of its choices was taken."""

Progress = Callable[[int, int], None]
"""`f(done, total)`: the work done so far and all there is, as far as that is known yet."""

FINISH_TOKENS = 160  # how far a text may run on for the sake of its last sentence
STALL_TOKENS = 512  # a model that settles no bit for so long will hardly ever settle one
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]」』]*\s*$")


class BorderlineError(Exception):
    """The text under way is none that all readers read alike; with another nonce it is another."""


class StalledError(CapacityError):
    """The text ran into a rut, where the model leaves no choice."""


@dataclass(frozen=True)
class Embedding:
    """A text that holds a message, and what it cost.

    Attributes:
        text: what is sent; in view `whole` it begins with the prompt.
        ids: the tokens written after the prompt.
        bits: bits that were hidden: the sealed message, or the raw bits.
        tokens: tokens that carry them; `ids` may run on to the end of a sentence.
        kl_filter: mean over these tokens of the divergence, in bits, that disambiguation causes.
        seconds: wall-clock time, checks included.
    """

    text: str
    ids: tuple[int, ...]
    bits: int
    tokens: int
    kl_filter: float
    seconds: float = 0.0

    @property
    def bits_per_token(self) -> float:
        """BPT: hidden bits per token that carries them; 0 where there are none."""
        return self.bits / self.tokens if self.tokens else 0.0


def write(
    walk: Walk,
    writer: Writer,
    length: int,
    finish: bool,
    progress: Progress | None,
    observer: Observer | None = None,
    tolerance: float = 0.0,
) -> Embedding:
    """Write until `writer` is done with its `length` bits, and if `finish` to a sentence's end.

    In any case the text goes on to where it may end: not inside a character, for one.

    Args:
        tolerance: by how much the reader's logits may differ, where they carry bits.

    Raises:
        BorderlineError: a reader within the tolerance might find other candidates.
        CapacityError: nothing can follow.
        NoRoomError: the message does not fit the context; noticed as early as that is certain.
        StalledError: the model leaves no choice.
    """
    capacity = Capacity(length, walk.room, walk.most_choices)
    kl_filter, stalled = 0.0, 0
    while not writer.done:
        settled = writer.settled
        step = walk.step()
        if tolerance and not step.outlook.survives(tolerance):
            raise BorderlineError
        index = writer.choose(step.weights)
        kl_filter += step.kl_filter
        if observer is not None:
            observer(step, index)
        walk.push(int(step.choices.ids[index]))
        stalled = 0 if writer.settled > settled else stalled + 1
        if stalled == STALL_TOKENS:
            raise StalledError(
                f"{STALL_TOKENS} tokens in a row took up no bit of the message: the model leaves "
                f"no choice here; raise temperature or top_k, or try another prompt"
            )
        if not writer.done:
            capacity.after(len(walk.tokens), writer.settled)
        if progress is not None:
            progress(min(writer.settled, length), length)
    tokens = len(walk.tokens)
    if finish:
        _finish_sentence(walk, writer)
    while not walk.may_end():
        _advance(walk, writer)
    return Embedding(
        text=walk.text(),
        ids=tuple(walk.tokens),
        bits=length,
        tokens=tokens,
        kl_filter=kl_filter / tokens if tokens else 0.0,
    )


def _advance(walk: Walk, writer: Writer) -> None:
    step = walk.step()
    walk.push(int(step.choices.ids[writer.choose(step.weights)]))


def _finish_sentence(walk: Walk, writer: Writer) -> None:
    """Go on, at random, until the text ends a sentence; stop where that takes too long.

    It goes on by at least one token: text that is put behind the last one may merge with it.
    """
    for _ in range(FINISH_TOKENS):
        if walk.full:
            return
        try:
            _advance(walk, writer)
        except CapacityError:
            return
        if _SENTENCE_END.search(walk.text()) and walk.may_end():
            return
