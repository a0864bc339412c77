"""The description of a parser for these tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.mutations import Damage


@dataclass(frozen=True)
class Parser:
    """A reader of one kind of file.

    Attributes:
        name: also the name of the folder in corpus/ with files for it.
        sound: gives valid files, which it must read.
        damage: damages one of them.
        read: reads a file's content; the path is that of a missing file in an empty folder.
            Raises AssertionError if the result is wrong.
        cases: how many files are read in continuous integration.
        thorough: how many files are read in a thorough run.
    """

    name: str
    sound: Callable[[], Sequence[bytes]]
    damage: Damage
    read: Callable[[bytes, Path], object]
    cases: int = 120
    thorough: int = 10_000
