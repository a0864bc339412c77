"""How much is timed, and what timing needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import environ
from tempfile import TemporaryDirectory

from ticore.consistency import Mode

CHARACTERS_PER_TOKEN = 8
"""More than the average of any text here."""

_CACHE = "TICORE_CACHE"


@dataclass(frozen=True)
class Plan:
    """How much to time.

    Attributes:
        modes: each is measured by itself.
        lengths: tokens of history.
        passages: of each text, at each length.
        steps: tokens pushed after the history.
        candidates: how many ids `admits` is asked about.
        sample: how many ids slow methods are asked about; times are scaled to the vocabulary.
        patience: seconds after which a slow method is asked about no more ids.
        loads: how often tables are built and loaded.
        full_length: the length at which the paper's method is also timed on the whole vocabulary,
            on one history.
        full: time slow methods on the whole vocabulary, on every history.
        memory_tokens: tokens after which memory is measured.
        seed: of passages and candidates.
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
    memory_tokens: int = 2000
    seed: int = 0


@contextmanager
def empty_cache() -> Iterator[None]:
    """A new cache folder. Tables are built again, and the user's cache is not changed."""
    before = environ.get(_CACHE)
    with TemporaryDirectory() as folder:
        environ[_CACHE] = folder
        try:
            yield
        finally:
            if before is None:
                del environ[_CACHE]
            else:
                environ[_CACHE] = before
