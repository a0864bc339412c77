"""Files of texts by the ending of their names."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from ..errors import SettingsError
from .base import Corpus, Writer
from .json_tables import JsonTables
from .jsonl import JsonlCorpus, JsonlWriter
from .parquet import ParquetCorpus, ParquetTables, ParquetWriter, arrow
from .results import Result

_CORPORA: dict[str, Callable[[Path, str, int, int | None], Corpus]] = {
    ".jsonl": JsonlCorpus,
    ".parquet": ParquetCorpus,
}
ENDINGS = tuple(_CORPORA)


def ending(path: Path) -> str:
    """`.jsonl` or `.parquet`, whichever `path` ends in. Raises SettingsError."""
    found = path.suffix.lower()
    if found not in _CORPORA:
        raise SettingsError(
            f"expected a file name that ends in {' or '.join(ENDINGS)}, found {str(path)!r}"
        )
    return found


def open_corpus(path: Path, column: str, batch_size: int, limit: int | None) -> Corpus:
    """Raises SettingsError, FileError, MissingExtraError."""
    return _CORPORA[ending(path)](path, column, batch_size, limit)


def rehearse(path: Path, corpus: Corpus) -> None:
    """Write the first batch of `corpus`, without results, to nowhere, in the format of `path`.

    What cannot be written is to be known before the work, not after it.

    Raises SettingsError, FileError, MissingExtraError.
    """
    if ending(path) == ".parquet" and not isinstance(corpus, ParquetCorpus):
        arrow()  # Columns of JSON can be written, whatever they hold, but are known at the end.
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


def open_writer(path: Path, file: BinaryIO, corpus: Corpus) -> Writer:
    """What writes the rows of `corpus` in the format of `path` to `file`.

    Raises SettingsError, FileError, MissingExtraError.
    """
    if ending(path) == ".jsonl":
        return JsonlWriter(file)
    tables = ParquetTables(corpus) if isinstance(corpus, ParquetCorpus) else JsonTables(corpus)
    return ParquetWriter(file, tables)
