"""Why a request is refused, in words for the person at the page."""

from __future__ import annotations


class RefusedError(Exception):
    """A request that gets no answer.

    Attributes:
        status: of HTTP, 400 to 503.
        said: what was expected, what was found, what to do. It never repeats a key or a message.
    """

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said
