"""Steps that end or are the last: a cache of which some layers have read a token is of no use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import InconsistentStateError


class Uninterrupted:
    """Refuses to go on after a step that did not end: Ctrl-C in a notebook, or no memory left."""

    def __init__(self) -> None:
        self._broken = False

    @contextmanager
    def step(self) -> Iterator[None]:
        """A step that must end.

        Raises:
            InconsistentStateError: an earlier one did not.
        """
        if self._broken:
            raise InconsistentStateError(
                "expected texts that were read to the end, found a call that was interrupted or "
                "failed, after which the cache is not known; start another Decoder"
            )
        self._broken = True
        yield
        self._broken = False
