"""Which columns of a file a scan looks at, and what it makes of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ._base import CorpusText, Problem, Rollout


class TextColumn(NamedTuple):
    """A column of texts.

    Attributes:
        name: of the column.
    """

    name: str

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def hint(self) -> str:
        return "name the one with the texts: --column NAME"

    def item(self, row: Mapping[str, object], where: str) -> CorpusText:
        """The text of a row, or why it has no text."""
        if self.name not in row:
            return Problem(f"{where}: no column {self.name!r}")
        found = row[self.name]
        if isinstance(found, str):
            return found
        return Problem(f"{where}: expected text, found {kind_of(found)}")


class RolloutColumns(NamedTuple):
    """The columns of rollouts.

    Attributes:
        ids: holds lists of token ids.
        reread: holds what was read again: lists of ids, or texts. None if the tokenizer is to read
            the text of the ids.
    """

    ids: str = "ids"
    reread: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.ids,) if self.reread is None else (self.ids, self.reread)

    @property
    def hint(self) -> str:
        return "name the ones with the ids: --ids NAME, and perhaps --reread NAME"

    def item(self, row: Mapping[str, object], where: str) -> CorpusText:
        """The rollout of a row, or why it has none."""
        for name in self.names:
            if name not in row:
                return Problem(f"{where}: no column {name!r}")
        try:
            ids = _ids(row[self.ids])
            reread = None if self.reread is None else row[self.reread]
            if self.reread is not None and not isinstance(reread, str):
                reread = _ids(reread)
        except ValueError as error:
            return Problem(f"{where}: {error}")
        assert reread is None or isinstance(reread, str | np.ndarray)
        return Rollout(ids, reread)


Columns = TextColumn | RolloutColumns


def columns_of(given: str | Columns) -> Columns:
    """The columns that are meant by a name, which is that of a column of texts."""
    return TextColumn(given) if isinstance(given, str) else given


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    names = {type(None): "null", bool: "a truth value", list: "an array", dict: "an object"}
    return names.get(type(value), "text" if isinstance(value, str) else "a number")


def _ids(found: object) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """A list of integers as int64[n]. Raises ValueError, which says what was found instead."""
    if isinstance(found, np.ndarray) and found.dtype.kind in "iu":
        return found.astype(np.int64, copy=False)
    if isinstance(found, Problem):
        raise ValueError(found.error.partition(": ")[2])
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise ValueError(f"expected a list of token ids, found {kind_of(found)}")
    if wrong := set(map(type, found)) - {int}:
        other = next(value for value in found if type(value) in wrong)
        raise ValueError(f"expected a list of token ids, found {kind_of(other)} in it")
    try:
        return np.array(found, dtype=np.int64)
    except OverflowError:
        raise ValueError("expected a list of token ids, found a number beyond 64 bits") from None
