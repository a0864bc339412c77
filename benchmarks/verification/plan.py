"""How much is measured, and what measuring works with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import environ
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeVar

from ticore.consistency import Mode

T = TypeVar("T")

Found = dict[str, Any]
"""What goes into the JSON file: dictionaries, lists, numbers and texts."""

CHARACTERS_A_TOKEN = 8
"""More than any text here has on average."""


class Track(Protocol):
    """Shows progress through some items, as rich does."""

    def __call__(self, items: Iterable[T], description: str, total: int) -> Iterable[T]: ...


@dataclass(frozen=True)
class Plan:
    """How much to measure.

    Attributes:
        modes: each is measured by itself.
        lengths: tokens of history.
        passages: of each text, at each length.
        steps: tokens walked after the history.
        candidates: ids that `admits` is asked for.
        sample: ids that the slower rungs are asked for; their times are scaled to the vocabulary.
        patience: seconds after which a slower rung is asked for no more of them.
        loads: how often tables are built and loaded.
        full_length: where the paper's way is measured for the whole vocabulary, on one history.
        full: measure the slower rungs for the whole vocabulary on every history.
        walked: tokens after which the memory is looked at.
        seed: for the passages and candidates.
    """

    modes: Sequence[Mode] = ("prefix",)
    lengths: Sequence[int] = (50, 200, 1000)
    passages: int = 3
    steps: int = 40
    candidates: int = 50
    sample: int = 1024
    patience: float = 20.0
    loads: int = 3
    full_length: int = 200
    full: bool = False
    walked: int = 2000
    seed: int = 0


@contextmanager
def empty_cache() -> Iterator[None]:
    """A folder of its own for tables, so that they are built here and the user's are left alone."""
    before = environ.get("TICORE_CACHE")
    with TemporaryDirectory() as folder:
        environ["TICORE_CACHE"] = folder
        try:
            yield
        finally:
            if before is None:
                del environ["TICORE_CACHE"]
            else:
                environ["TICORE_CACHE"] = before
