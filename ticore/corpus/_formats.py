"""File formats, chosen by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import FileError, SettingsError
from ._base import Corpus, ResultWriter
from ._columns import Columns
from ._json_tables import JsonTables
from ._jsonl import JsonlCorpus, JsonlWriter, first_names
from ._parquet import ParquetCorpus, ParquetTables, ParquetWriter, arrow, column_names
from ._results import COLUMNS, Result
from ._results_only import NoTables, ResultsOnly

_PACKED = ".jsonl.gz"
_CORPORA: dict[str, Callable[..., Corpus]] = {
    ".jsonl": JsonlCorpus,
    _PACKED: partial(JsonlCorpus, packed=True),
    ".parquet": ParquetCorpus,
}
ENDINGS = tuple(_CORPORA)
ENDINGS_SAID = f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"


def has_ending(path: Path) -> bool:
    """Whether a file's name ends as that of a file of many texts."""
    return path.name.lower().endswith(ENDINGS)


def ending(path: Path) -> str:
    """The ending of a file's name, in lower case: `.jsonl`, `.jsonl.gz` or `.parquet`.

    Raises:
        SettingsError: the name has another ending.
    """
    if not has_ending(path):
        raise SettingsError(
            f"expected a file name that ends in {ENDINGS_SAID}, found {str(path)!r}; rename a file "
            f"of one JSON object per line"
        )
    return next(each for each in ENDINGS if path.name.lower().endswith(each))


def stem(path: Path) -> str:
    """A file's name without its ending, whatever that is.

    >>> stem(Path("in/rows.jsonl.gz")), stem(Path("rows.txt"))
    ('rows', 'rows')
    """
    return path.name[: -len(ending(path))] if has_ending(path) else path.stem


def is_output(path: Path, added: Sequence[str]) -> bool:
    """Whether a file is what a scan that adds these columns has written. An empty file is, too.

    It has the first two of them, which no version lacks. A file that cannot be read is not one.

    Raises MissingExtraError.
    """
    try:
        if ending(path) == ".parquet":
            found: Sequence[str] | None = column_names(path)
        else:
            found = first_names(path, packed=ending(path) == _PACKED)
    except FileError:
        return False
    return found is None or set(added[:2]) <= set(found)


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
    if ending(path) != ".parquet":
        writer: ResultWriter = JsonlWriter(file, packed=ending(path) == _PACKED)
        return ResultsOnly(writer) if results_only else writer
    if results_only:
        return ResultsOnly(ParquetWriter(file, NoTables(), result))
    tables = ParquetTables(corpus) if isinstance(corpus, ParquetCorpus) else JsonTables(corpus)
    return ParquetWriter(file, tables, result)
