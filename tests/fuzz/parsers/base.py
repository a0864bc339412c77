"""A parser, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.mutations import Damage


@dataclass(frozen=True)
class Parser:
    """What reads one kind of file.

    Attributes:
        name: also of the folder in corpus/ that holds files for it.
        sound: gives files that it must read.
        damage: what is done to one of them.
        read: reads a file's content; the path is of an empty file name in a folder of its own.
            Raises AssertionError where the result is not a proper one.
        cases: how many files are read in continuous integration.
        thorough: and how many in a thorough run.
    """

    name: str
    sound: Callable[[], Sequence[bytes]]
    damage: Damage
    read: Callable[[bytes, Path], object]
    cases: int = 200
    thorough: int = 10_000
