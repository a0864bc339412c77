"""What is written after the message, up to the end of the text. A reader ignores it."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..codecs import Writer
from ..errors import CapacityError
from ._jobs import Job
from ._step import Step
from ._text_state import TextState
from ._token_check import TokenCheck

Ending = Callable[[TextState, Writer, TokenCheck | None], Job[None]]
"""`f(text, writer, check)`: writes what follows the message."""

RandomBits = Callable[[int], int]
"""`f(n)` gives n random bits."""

FINISH_TOKENS = 160  # how many tokens a text may go on to find an end
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]」』]*\s*$")
_CHANCE_BITS = 32
_MOST_SENTENCES = 8


def stop_at_once(text: TextState, writer: Writer, check: TokenCheck | None) -> Job[None]:
    """An Ending: write nothing more."""
    yield from ()


def finish_sentence(text: TextState, writer: Writer, check: TokenCheck | None) -> Job[None]:
    """An Ending: go on, at random, to the end of a sentence; stop where that takes too long.

    At least one token is written: text that is appended later may merge with the last token.
    """
    for _ in range(FINISH_TOKENS):
        if text.is_full:
            return
        try:
            yield from write_one(text, writer, check)
        except CapacityError:
            return
        if _SENTENCE_END.search(text.text()) and text.may_end():
            return


def finish_sentences(random: RandomBits) -> Ending:
    """An Ending: go on to the end of a sentence, and of some more, as many as chance has it.

    At each end of a sentence the text ends with probability 1/2, and at the eighth one for sure. So
    where it ends does not tell where the message ends.

    Args:
        random: decides.
    """

    def finish(text: TextState, writer: Writer, check: TokenCheck | None) -> Job[None]:
        for _ in range(_MOST_SENTENCES):
            before = len(text.ids)
            yield from finish_sentence(text, writer, check)
            if len(text.ids) - before in (0, FINISH_TOKENS) or text.is_full or random(1):
                return

    return finish


def finish_turn(random: RandomBits) -> Ending:
    """An Ending: go on until the model, sampled freely, would end its reply.

    Where that takes too long, the text ends with a sentence. At least one token is written: see
    `finish_sentence`.

    Args:
        random: decides whether it ends, with the model's own probability.
    """

    def finish(text: TextState, writer: Writer, check: TokenCheck | None) -> Job[None]:
        for written in range(FINISH_TOKENS):
            if text.is_full:
                return
            try:
                step = yield from text.next_step()
            except CapacityError:
                return
            may_end = written > 0 and text.may_end()
            if may_end and random(_CHANCE_BITS) < step.chance_of_end * 2**_CHANCE_BITS:
                return
            _take(text, step, writer, check)
        yield from finish_sentence(text, writer, check)

    return finish


def write_one(text: TextState, writer: Writer, check: TokenCheck | None) -> Job[None]:
    """Write one more token. Raises CapacityError."""
    step = yield from text.next_step()
    _take(text, step, writer, check)


def _take(text: TextState, step: Step, writer: Writer, check: TokenCheck | None) -> None:
    """Write the token of one step that the writer chooses."""
    index = writer.choose(step.weights)
    text.take(step, index)
    if check is not None:
        check.see(step, index)
