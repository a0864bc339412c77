"""Messages that their writer could not send: a run counts them and goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ticore.errors import CapacityError

from .types import JsonObject

_REFUSED = "refused"


def or_refused(take: Callable[[], JsonObject]) -> JsonObject:
    """The sample that `take` returns, or one that says that its message could not be sent."""
    try:
        return take()
    except CapacityError as error:
        return refused(error)


def refused(error: BaseException) -> JsonObject:
    """What is kept of a message that could not be sent. Raises `error` if it says otherwise."""
    if not isinstance(error, CapacityError):
        raise error
    return {_REFUSED: str(error)}


def sent(samples: Sequence[JsonObject]) -> list[JsonObject]:
    """The samples of messages that were sent."""
    return [each for each in samples if _REFUSED not in each]
