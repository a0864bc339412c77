"""The writer's loop: each token of a text, until the message is in. Mirror of `_extraction`."""

from __future__ import annotations

from collections.abc import Callable

from ..codecs import Writer
from ..errors import CapacityError
from ._capacity import Capacity
from ._ending import Ending, write_one
from ._jobs import Job
from ._nonce_first_codec import rest_begun
from ._pending_bits import PendingBits
from ._results import Embedding
from ._step import Step
from ._text_state import TextState
from ._token_check import TokenCheck

Observer = Callable[[Step, int], None]
"""`f(step, index)`: sees each step that carries bits, and which of its choices was taken."""

Progress = Callable[[int, int], None]
"""`f(done, total)`: the work that is done, and all the work as far as it is known, in bits."""

STALL_TOKENS = 512  # a model that leaves no choice for that long will hardly ever leave one


class BorderlineError(Exception):
    """Two readers may read the text being written differently. Another nonce gives another text."""


class StalledError(CapacityError):
    """The text has come to a place where the model leaves no choice."""


class UnendedError(CapacityError):
    """The message is written, and the text cannot end where nothing can follow."""


def write_bits(
    text: TextState,
    writer: Writer,
    length: int,
    *,
    finish: Ending,
    progress: Progress | None,
    observer: Observer | None = None,
    tolerance: float = 0.0,
    check: TokenCheck | None = None,
) -> Job[Embedding]:
    """Write token by token until `writer` is done, and then to an end of the text.

    In any case the text goes on until it may end. It may not end inside a character, for example.

    Args:
        text: at the prompt; it grows by each token that is written.
        writer: of the codec, with the bits to write.
        length: how many bits these are.
        finish: goes on to the end.
        progress: see `Progress`.
        observer: see `Observer`.
        tolerance: by how much the reader's logits may differ, where tokens carry bits.
        check: sees all steps.

    Raises:
        BorderlineError: a reader within the tolerance might find other candidates.
        CapacityError: nothing can follow.
        NoRoomError: the message does not fit the context; noticed as early as that is certain.
        StalledError: the model leaves no choice.
        UnendedError: the message is in the text, which may not end where nothing can follow.
    """
    capacity = Capacity(length, text.room, text.most_choices)
    pending, kl_filter = PendingBits(writer), 0.0
    while not writer.done:
        step = yield from text.next_step()
        if tolerance and not step.is_stable_within(tolerance):
            raise BorderlineError
        index = writer.choose(step.weights)
        pending.see(step.weights, index)
        kl_filter += step.kl_filter
        if observer is not None:
            observer(step, index)
        text.take(step, index)
        if check is not None:
            check.see(step, index)
        if (numbers := rest_begun(writer)) is not None:
            text.share(numbers)

        if pending.stalled == STALL_TOKENS:
            raise StalledError(
                f"{STALL_TOKENS} tokens in a row carried no bit of the message: the model leaves "
                f"no choice here; raise temperature or top_k, or try another prompt"
            )
        if not writer.done:
            capacity.after(len(text.ids), writer.settled, pending.count)
        if progress is not None:
            progress(min(writer.settled, length), length)
    token_count = len(text.ids)
    yield from finish(text, writer, check)
    while not text.may_end():
        try:
            yield from write_one(text, writer, check)
        except CapacityError as error:
            raise UnendedError(f"the text cannot end where it is: {error}") from error
    return Embedding(
        text=text.text(),
        ids=tuple(text.ids),
        bits=length,
        token_count=token_count,
        kl_filter=kl_filter / token_count if token_count else 0.0,
    )
