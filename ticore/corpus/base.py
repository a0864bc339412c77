"""What a file of texts is to a scan: batches of rows, to be read and to be written with results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from .results import Result


@dataclass(frozen=True)
class Problem:
    """Why a row has no text that could be scored."""

    error: str


Text = str | Problem


class Batch(Protocol):
    """Neighbouring rows."""

    @property
    def texts(self) -> Sequence[Text]: ...

    @property
    def done(self) -> int:
        """How much of `Corpus.total` has been read when this batch has."""
        ...

    def objects(self) -> Iterator[bytes]:
        """Each row as a JSON object, UTF-8."""
        ...


class Corpus(Protocol):
    """A file of texts, which can be read any number of times."""

    @property
    def total(self) -> int:
        """How much there is to read, in units of its own."""
        ...

    def batches(self) -> Iterator[Batch]:
        """All rows in their order, in the same batches each time. Raises FileError."""
        ...

    def traits(self) -> list[str]:
        """What else its batches depend on, such as the version of the package that reads it."""
        ...


class Writer(Protocol):
    """A new file, in which rows stand with their results."""

    def write(self, batch: Batch, results: Sequence[Result]) -> None: ...

    def close(self) -> None:
        """Write what is still missing."""
        ...

    def abandon(self) -> None:
        """Nobody will read the file: be done without a word."""
        ...
