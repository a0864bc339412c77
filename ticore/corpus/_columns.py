"""Which columns of a file a scan looks at, and what it makes of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .._support.input_files import parse_json
from ._base import CorpusText, Messages, Problem, Rollout

_TOO_LARGE = "expected a list of token ids, found a number beyond 64 bits"

Reread = str | npt.NDArray[np.int64] | Messages | None


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
        messages: holds what was said, which a template writes again: lists of objects, or texts in
            JSON. None if there is no template.
        tools: holds what the template describes as tools: lists, texts in JSON, or null. None if
            there are none.
    """

    ids: str = "ids"
    reread: str | None = None
    messages: str | None = None
    tools: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        given = (self.ids, self.reread, self.messages, self.tools)
        return tuple(dict.fromkeys(name for name in given if name is not None))

    @property
    def of_json(self) -> tuple[str, ...]:
        """The columns with values of any kind."""
        return tuple(name for name in (self.messages, self.tools) if name is not None)

    @property
    def hint(self) -> str:
        return (
            "name the ones with the ids: --ids NAME, and perhaps --reread NAME or --messages NAME"
        )

    def item(self, row: Mapping[str, object], where: str) -> CorpusText:
        """The rollout of a row, or why it has none."""
        for name in self.names:
            if name not in row:
                return Problem(f"{where}: no column {name!r}")
        try:
            return Rollout(_ids(row[self.ids]), self._reread(row))
        except ValueError as error:
            return Problem(f"{where}: {error}")

    def _reread(self, row: Mapping[str, object]) -> Reread:
        """What a receiver has of a row. Raises ValueError, which says what was found instead."""
        if self.messages is not None:
            messages = _objects(row[self.messages], "messages")
            tools = None if self.tools is None else row[self.tools]
            return Messages(messages, None if tools is None else _objects(tools, "tools"))
        if self.reread is None:
            return None
        found = row[self.reread]
        return found if isinstance(found, str) else _ids(found)


Columns = TextColumn | RolloutColumns


def columns_of(given: str | Columns) -> Columns:
    """The columns that are meant by a name, which is that of a column of texts."""
    return TextColumn(given) if isinstance(given, str) else given


def expected_no_column(name: str, columns: Columns) -> str:
    """Why a file or row is refused that has a column which the scan adds."""
    otherwise = ", give --results-only" if isinstance(columns, TextColumn) else ""
    return (
        f"expected no column {name!r}, which the scan adds; rename it first{otherwise}, or leave "
        f"the file out if a scan has written it"
    )


def _objects(found: object, name: str) -> list[Any]:
    """A list of objects, which may be written in JSON. Raises ValueError, as `_ids`."""
    if isinstance(found, Problem):
        raise ValueError(found.error.partition(": ")[2])
    if isinstance(found, str):
        try:
            found = parse_json(found)
        except ValueError as error:
            raise ValueError(f"expected {name} in JSON: {error}") from None
    if not isinstance(found, list):
        raise ValueError(f"expected a list of {name}, found {kind_of(found)}")
    return found


def kind_of(value: object) -> str:
    """What a JSON value is, in words."""
    names = {type(None): "null", bool: "a truth value", list: "an array", dict: "an object"}
    return names.get(type(value), "text" if isinstance(value, str) else "a number")


def _ids(found: object) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """A list of integers as int64[n]. Raises ValueError, which says what was found instead."""
    if isinstance(found, np.ndarray) and found.dtype.kind in "iu":
        if found.max(initial=0) > np.iinfo(np.int64).max:
            raise ValueError(_TOO_LARGE)
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
        raise ValueError(_TOO_LARGE) from None
