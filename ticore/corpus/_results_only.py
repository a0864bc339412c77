"""An output of results alone, without the columns of the input: one per row, in their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from ._base import Batch, CorpusText, ResultWriter
from ._parquet import arrow


@dataclass(frozen=True)
class _BareBatch:
    """See `Batch`; its rows are empty objects.

    Attributes:
        of: the batch whose rows they stand for.
        count: of rows.
    """

    of: Batch
    count: int

    @property
    def texts(self) -> Sequence[CorpusText]:
        return self.of.texts

    @property
    def done(self) -> int:
        return self.of.done

    @property
    def digest(self) -> bytes:
        return self.of.digest

    def objects(self) -> Iterator[bytes]:
        return repeat(b"{}", self.count)


class ResultsOnly:
    """See `ResultWriter`.

    Args:
        writer: of rows with their results.
    """

    def __init__(self, writer: ResultWriter) -> None:
        self._writer = writer
        self.close, self.abandon = writer.close, writer.abandon

    def write(self, batch: Batch, results: Sequence[Any]) -> None:
        self._writer.write(_BareBatch(batch, len(results)), results)


class NoTables:
    """See `Tables`. Tables without columns, which still count their rows."""

    def __init__(self) -> None:
        self.schema = arrow().schema([])

    def table(self, batch: Batch) -> Any:
        return arrow().table({"": arrow().nulls(len([*batch.objects()]))}).select([])
