"""The interfaces of a file format: batches of rows are read, and written again with results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from ._results import Result


@dataclass(frozen=True)
class Problem:
    """Stands for a row without a text that could be scored.

    Attributes:
        error: why the row has no such text.
    """

    error: str


CorpusText = str | Problem


class Batch(Protocol):
    """Neighbouring rows."""

    @property
    def texts(self) -> Sequence[CorpusText]: ...

    @property
    def done(self) -> int:
        """How much of `Corpus.total` has been read at the end of this batch."""
        ...

    def objects(self) -> Iterator[bytes]:
        """Each row as a JSON object, UTF-8."""
        ...


class Corpus(Protocol):
    """A file of texts, which can be read several times."""

    @property
    def total(self) -> int:
        """How much there is to read, in bytes or rows, the unit of `Batch.done`."""
        ...

    def batches(self) -> Iterator[Batch]:
        """All rows in their order, in the same batches each time.

        Raises:
            InputFileError: the file cannot be read, or a row has a column that results would
                replace.
        """
        ...

    def traits(self) -> list[str]:
        """What the batches depend on besides the file, such as the version of pyarrow."""
        ...


class ResultWriter(Protocol):
    """Writes a new file of rows with their results."""

    def write(self, batch: Batch, results: Sequence[Result]) -> None:
        """Write the rows of a batch, each with its result."""
        ...

    def close(self) -> None:
        """Write everything that is still buffered. The file itself stays open."""
        ...

    def abandon(self) -> None:
        """Stop without finishing the file, which will be deleted. This raises nothing."""
        ...
