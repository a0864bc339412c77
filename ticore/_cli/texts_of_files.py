"""Texts that commands take from files: one on each line, or from a column of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..corpus import ENDINGS
from ..corpus._formats import open_corpus
from . import streams
from .usage import UsageError

_ROWS = 500  # read at a time


def texts_of(paths: Sequence[Path], column: str | None) -> Iterator[str]:
    """The texts of some files, in order. Rows without a text are left out.

    Args:
        paths: text files, or tables if there is a column.
        column: with the texts.

    Raises:
        UsageError: a table without a column, or the other way round.
        FileError, SettingsError, MissingExtraError: a file cannot be read.
    """
    for path in paths:
        is_table = path.suffix.lower() in ENDINGS
        if is_table != (column is not None):
            what = "name the column with the texts: --column NAME" if is_table else "no --column"
            raise UsageError(f"{streams.printable(str(path))}: {what}")
        if column is None:
            lines = streams.read_text_file(path).splitlines()
            yield from (line for line in lines if line.strip())
        else:
            for batch in open_corpus(path, column, _ROWS, None).batches():
                yield from (text for text in batch.texts if isinstance(text, str))
