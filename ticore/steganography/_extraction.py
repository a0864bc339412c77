"""The reader's loop: each token of a text, and the bits that it settles. Mirror of `_embedding`."""

from __future__ import annotations

from collections.abc import Callable

from ..codecs import Reader
from ..errors import CapacityError, OutsidePoolError
from ._departure import TextAsRead
from ._jobs import Job
from ._nonce_first_codec import rest_begun
from ._text_state import TextState

Take = Callable[[int, int], bool]
"""`f(value, count)`: takes the bits that a token settles. True once no more are wanted."""


def read_bits(text: TextState, received: TextAsRead, reader: Reader, take: Take) -> Job[None]:
    """Read token by token, to the end of what was received, or until enough is known.

    Args:
        text: at the prompt; it grows by each token that is read.
        received: the text that was received, after the prompt.
        reader: of the codec that wrote the text.
        take: see `Take`.

    Raises:
        OutsidePoolError: a token of the text cannot have been written there. It has a place.
    """
    while not (received.exhausted or text.is_full):
        try:
            step = yield from text.next_step()
        except CapacityError as error:
            raise received.departure(text.text(), None) from error
        try:
            index = received.locate(step.choices)
        except OutsidePoolError as error:
            raise received.departure(text.text(), step.choices) from error
        text.take(step, index)
        value, count = reader.observe(step.weights, index)
        if (numbers := rest_begun(reader)) is not None:
            text.share(numbers)
        if take(value, count):
            return
