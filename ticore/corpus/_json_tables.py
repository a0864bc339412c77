"""JSON lines as columns of a Parquet file.

All lines are read once to learn what each column holds. A column of truth values, whole numbers,
numbers or texts gets that type. A column of several kinds, of arrays or objects, or with a value
that its type cannot hold, is written as JSON in text: nothing is lost, and nothing fails half-way.
"""

from __future__ import annotations

import json
from typing import Any

from ._base import Batch, Corpus
from ._parquet import arrow

_EXACT = 1 << 53  # a double holds every whole number up to here


class JsonTables:
    """See `Tables`. Reads the whole corpus. Raises InputFileError, MissingExtraError."""

    def __init__(self, corpus: Corpus) -> None:
        self._kinds: dict[str, str] = {}
        for batch in corpus.batches():
            for line in batch.objects():
                for name, value in json.loads(line).items():
                    self._kinds[name] = joined(self._kinds.get(name, "null"), kind(value))
        pa = arrow()
        types = {"truth": pa.bool_(), "whole": pa.int64(), "small": pa.int64(), "null": pa.null()}
        types |= {"number": pa.float64(), "text": pa.string(), "json": pa.string()}
        self.schema = pa.schema([(_printed(n), types[k]) for n, k in self._kinds.items()])

    def table(self, batch: Batch) -> Any:
        rows = [json.loads(line) for line in batch.objects()]
        columns = [
            [self._cell(row[name], kind) if name in row else None for row in rows]
            for name, kind in self._kinds.items()
        ]
        arrays = [
            arrow().array(values, type=field.type)
            for values, field in zip(columns, self.schema, strict=True)
        ]
        if not arrays:  # Rows without columns still count.
            return arrow().table({"": arrow().nulls(len(rows))}).select([])
        return arrow().Table.from_arrays(arrays, schema=self.schema)

    @staticmethod
    def _cell(value: Any, kind: str) -> Any:
        return json.dumps(value) if kind == "json" and value is not None else value


def kind(value: object) -> str:
    """The kind of a JSON value. `small` is a whole number that a double holds exactly.

    >>> [kind(v) for v in (None, True, 1, 1 << 60, 1 << 70, 1.5, "a", "\\ud800", [])]
    ['null', 'truth', 'small', 'whole', 'json', 'number', 'text', 'json', 'json']
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else "truth"
    if isinstance(value, int):
        if abs(value) <= _EXACT:
            return "small"
        return "whole" if -(1 << 63) <= value < 1 << 63 else "json"
    if isinstance(value, float):
        return "number"
    return "text" if isinstance(value, str) and _is_unicode(value) else "json"


def joined(one: str, other: str) -> str:
    """The kind of a column that holds values of both kinds.

    >>> joined("null", "text"), joined("small", "number"), joined("whole", "number")
    ('text', 'number', 'json')
    """
    kinds = {one, other} - {"null"}
    if len(kinds) < 2:
        return next(iter(kinds), "null")
    return {("small", "whole"): "whole", ("number", "small"): "number"}.get(
        (min(kinds), max(kinds)), "json"
    )


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _printed(name: str) -> str:
    """A column's name in which lone surrogates, which cannot be written, are escaped."""
    return name if _is_unicode(name) else name.encode("ascii", "backslashreplace").decode()
