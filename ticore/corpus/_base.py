"""The interfaces of a file format: batches of rows are read, and written again with results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Problem:
    """Stands for a row without a text that could be scored.

    Attributes:
        error: why the row has no such text.
    """

    error: str


class Messages(NamedTuple):
    """What was said in a rollout, in values that JSON has.

    Attributes:
        messages: an object each.
        tools: those that the template describes; None: there are none.
    """

    messages: list[Any]
    tools: list[Any] | None = None


@dataclass(frozen=True, eq=False)
class Rollout:
    """The ids of a row, and what was read from their text.

    Attributes:
        ids: int64[n].
        reread: the text, the ids or the messages that a receiver has; None if the tokenizer is to
            read the text.
    """

    ids: npt.NDArray[np.int64]
    reread: str | npt.NDArray[np.int64] | Messages | None = None


CorpusText = str | Rollout | Problem
"""What a scan looks at in a row: a text or a rollout, or why there is none."""


class WorkerTask(Protocol):
    """What workers do with each row. It is sent to every worker, which opens it itself."""

    def open(self) -> Any:
        """What the worker needs, such as a tokenizer. Raises TicoreError."""
        ...

    def score(self, opened: Any, texts: Sequence[CorpusText]) -> list[Any]:
        """A result for each text, in order."""
        ...


class ScanTask(WorkerTask, Protocol):
    """What a scan does with each row, and what its results depend on.

    Attributes:
        result: a NamedTuple of the columns that are added, each with a default.
    """

    @property
    def result(self) -> type[Any]: ...

    def public_settings(self) -> dict[str, Any]:
        """All settings that results depend on, except the secret ones."""
        ...

    def depends_on(self, opened: Any) -> list[object]:
        """What results depend on besides the settings, such as the version of ticore."""
        ...

    def secret(self) -> bytes:
        """A digest of the secret settings, at most 64 bytes."""
        ...


class ScanSummary(Protocol):
    """What a scan found in all rows."""

    @property
    def rows(self) -> int: ...

    @property
    def errors(self) -> int:
        """Rows that could not be looked at."""
        ...

    @property
    def first_error(self) -> str | None: ...

    def kept(self) -> dict[str, Any]:
        """What `ScanTally.of_kept` needs, in types that JSON has."""
        ...


Summary_co = TypeVar("Summary_co", bound=ScanSummary, covariant=True)


class ScanTally(Protocol[Summary_co]):
    """Counts the results of a scan."""

    def see(self, before: int, results: Sequence[Any]) -> None:
        """Count the results of a batch; `before` is the number of rows before it."""
        ...

    def summary(self) -> Summary_co:
        """What was found in all batches so far."""
        ...

    def of_kept(self, kept: Mapping[str, Any]) -> Summary_co:
        """A summary as it was before `kept` and JSON."""
        ...


class CountedTask(ScanTask, Protocol[Summary_co]):
    """A task whose results are counted."""

    def tally(self) -> ScanTally[Summary_co]: ...


class Batch(Protocol):
    """Neighbouring rows."""

    @property
    def texts(self) -> Sequence[CorpusText]: ...

    @property
    def done(self) -> int:
        """How much of `Corpus.total` has been read at the end of this batch."""
        ...

    @property
    def digest(self) -> bytes:
        """Of the texts, 32 bytes. It may depend on what else the rows hold."""
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
            InputFileError: the file cannot be read, or its first batch has a column that results
                would replace.
        """
        ...

    def traits(self) -> list[str]:
        """What the batches depend on besides the file, such as the version of pyarrow."""
        ...


class ResultWriter(Protocol):
    """Writes a new file of rows with their results."""

    def write(self, batch: Batch, results: Sequence[Any]) -> None:
        """Write the rows of a batch, each with its result."""
        ...

    def close(self) -> None:
        """Write everything that is still buffered. The file itself stays open."""
        ...

    def abandon(self) -> None:
        """Stop without finishing the file, which will be deleted. This raises nothing."""
        ...
