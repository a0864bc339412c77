"""File formats, chosen by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from ..errors import SettingsError
from ._base import Corpus, ResultWriter
from ._json_tables import JsonTables
from ._jsonl import JsonlCorpus, JsonlWriter
from ._parquet import ParquetCorpus, ParquetTables, ParquetWriter, arrow
from ._results import Result

_CORPORA: dict[str, Callable[[Path, str, int, int | None], Corpus]] = {
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
            f"expected a file name that ends in {' or '.join(ENDINGS)}, found {str(path)!r}"
        )
    return found


def open_corpus(path: Path, column: str, batch_size: int, limit: int | None) -> Corpus:
    """Open a file to read. Raises SettingsError, InputFileError, MissingExtraError."""
    return _CORPORA[ending(path)](path, column, batch_size, limit)


def rehearse(path: Path, corpus: Corpus) -> None:
    """Write the first batch of `corpus`, without results, to memory in the format of `path`.

    So an output that cannot be written is refused before the work and not after it.

    Raises SettingsError, InputFileError, MissingExtraError.
    """
    if ending(path) == ".parquet" and not isinstance(corpus, ParquetCorpus):
        arrow()  # Any JSON can be written, but its columns are known only after the last line.
        return
    for batch in corpus.batches():
        writer = open_writer(path, BytesIO(), corpus)
        try:
            writer.write(batch, [Result()] * len(batch.texts))
            writer.close()
        except BaseException:
            writer.abandon()
            raise
        return


def open_writer(path: Path, file: BinaryIO, corpus: Corpus) -> ResultWriter:
    """A writer of the rows of `corpus` to `file`, in the format of `path`.

    Raises SettingsError, InputFileError, MissingExtraError.
    """
    if ending(path) == ".jsonl":
        return JsonlWriter(file)
    tables = ParquetTables(corpus) if isinstance(corpus, ParquetCorpus) else JsonTables(corpus)
    return ParquetWriter(file, tables)
