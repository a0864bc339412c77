"""File formats, chosen by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import SettingsError
from ._base import Corpus, ResultWriter
from ._columns import Columns
from ._json_tables import JsonTables
from ._jsonl import JsonlCorpus, JsonlWriter
from ._parquet import ParquetCorpus, ParquetTables, ParquetWriter, arrow
from ._results import COLUMNS, Result
from ._results_only import NoTables, ResultsOnly

_CORPORA: dict[str, Callable[..., Corpus]] = {
    ".jsonl": JsonlCorpus,
    ".parquet": ParquetCorpus,
}
ENDINGS = tuple(_CORPORA)


def ending(path: Path) -> str:
    """The ending of a file's name, in lower case: `.jsonl` or `.parquet`.

    Raises:
        SettingsError: the name has another ending.
    """
    found = path.suffix.lower()
    if found not in _CORPORA:
        raise SettingsError(
            f"expected a file name that ends in {' or '.join(ENDINGS)}, found {str(path)!r}; "
            f"unpack a .gz first, and rename a file of one JSON object per line"
        )
    return found


def open_corpus(
    path: Path,
    column: str | Columns,
    batch_size: int,
    limit: int | None,
    added: Sequence[str] = COLUMNS,
) -> Corpus:
    """Open a file to read. Raises SettingsError, InputFileError, MissingExtraError."""
    return _CORPORA[ending(path)](path, column, batch_size, limit, added)


def rehearse(
    path: Path, corpus: Corpus, result: type[Any] = Result, *, results_only: bool = False
) -> None:
    """Write the first batch of `corpus`, without results, to memory in the format of `path`.

    So an output that cannot be written is refused before the work and not after it.

    Raises SettingsError, InputFileError, MissingExtraError.
    """
    if ending(path) == ".parquet" and not isinstance(corpus, ParquetCorpus):
        arrow()  # Any JSON can be written, but its columns are known only after the last line.
        return
    for batch in corpus.batches():
        writer = open_writer(path, BytesIO(), corpus, result, results_only=results_only)
        try:
            writer.write(batch, [result()] * len(batch.texts))
            writer.close()
        except BaseException:
            writer.abandon()
            raise
        return


def open_writer(
    path: Path,
    file: BinaryIO,
    corpus: Corpus,
    result: type[Any] = Result,
    *,
    results_only: bool = False,
) -> ResultWriter:
    """A writer of the rows of `corpus`, each with a `result`, to `file` in the format of `path`.

    With `results_only` it writes the results without the rows.

    Raises SettingsError, InputFileError, MissingExtraError.
    """
    if ending(path) == ".jsonl":
        writer: ResultWriter = JsonlWriter(file)
        return ResultsOnly(writer) if results_only else writer
    if results_only:
        return ResultsOnly(ParquetWriter(file, NoTables(), result))
    tables = ParquetTables(corpus) if isinstance(corpus, ParquetCorpus) else JsonTables(corpus)
    return ParquetWriter(file, tables, result)
