"""Texts that commands take from files: one on each line, or from a column of a table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from .._support.input_files import BYTE_ORDER_MARK
from .._support.utf8 import require_unicode
from .._support.visible import visible
from ..corpus._base import CorpusText, Problem
from ..corpus._formats import ENDINGS_SAID, has_ending, open_corpus
from ..errors import InputFileError, SettingsError
from . import streams
from .usage import UsageError

_ROWS = 500  # read at a time


def texts_of(paths: Sequence[Path], column: str | None) -> Iterator[str]:
    """The texts of some files, in order. A note says how many rows of a table have none.

    Args:
        paths: text files, or tables if there is a column.
        column: with the texts.

    Raises:
        UsageError: a table without a column, or the other way round.
        FileError, SettingsError, MissingExtraError: a file cannot be read, or none has a text.
    """
    count = 0
    for path in paths:
        for text in _texts_of_one(path, column):
            count += 1
            yield text
    if paths and not count:
        raise InputFileError(
            f"{visible(', '.join(map(str, paths)))}: expected texts, found none; name "
            f"files with texts"
        )


def _texts_of_one(path: Path, column: str | None) -> Iterator[str]:
    is_table = has_ending(path)
    if is_table != (column is not None):
        what = "name the column with the texts: --column NAME"
        if not is_table:
            found = "a folder; name its files" if os.path.isdir(path) else "another name"
            what = f"--column: expected a file that ends in {ENDINGS_SAID}, found {found}"
        raise UsageError(f"{visible(str(path))}: {what}")
    if column is None:
        # Other characters that end a line for Python may stand within a text.
        lines = streams.read_text_file(path).removeprefix(BYTE_ORDER_MARK).split("\n")
        yield from (line.removesuffix("\r") for line in lines if line.strip())
    else:
        yield from _texts_of_table(path, column)


def _texts_of_table(path: Path, column: str) -> Iterator[str]:
    row, left_out, first = 0, 0, ""
    batches = open_corpus(path, column, _ROWS, None, added=()).batches()  # nothing is written
    for row, found in enumerate(chain.from_iterable(each.texts for each in batches), 1):
        why = _unreadable(found)
        if why is None:
            yield str(found)
        else:
            left_out += 1
            first = first or visible(f"row {row:,}: {why}")
    if left_out:
        name = visible(str(path))
        streams.note(f"ticore: {name}: left out {left_out:,} of {row:,} rows; {first}")


def _unreadable(found: CorpusText) -> str | None:
    """Why a row has no text that a tokenizer can read; None if it has."""
    if not isinstance(found, str):
        return found.error if isinstance(found, Problem) else "found no text"
    try:
        require_unicode(found)
    except SettingsError as error:
        return str(error)
    return None
