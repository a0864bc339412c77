"""Texts that are read side by side: what every batch remembers of its rows, and checks.

    rows = CheckedBatchDecoder(model, reader, prompts, logits)   # a BatchDecoder
    rows.push({0: 17, 2: 5})                      # checked, then read by the reader in one pass

A backend brings a `BatchedForward`, which computes. Ids, logits to come back to, and checks are the
same in every backend and are kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

from .._support.checks import (
    HasLimits,
    checked_ids,
    require_prompt_fits,
    require_pushed,
    require_room,
)
from ..errors import SettingsError, TicoreError, WrongTypeError, shown
from ..interfaces import Logits
from ._uninterrupted import Uninterrupted

Given = TypeVar("Given")
Made = TypeVar("Made")


class BatchedForward(Protocol):
    """The part of a batch that computes. Its arguments have been checked."""

    def push(self, tokens: Mapping[int, int]) -> Iterable[Logits]:
        """Read one id in each of these rows: logits float[logit_width] of each, in this order."""
        ...

    def rewind(self, row: int, count: int) -> None:
        """Forget the last `count` ids of a row."""
        ...

    def drop(self, row: int) -> None:
        """Forget a row."""
        ...


@runtime_checkable
class GrowingForward(BatchedForward, Protocol):
    """A BatchedForward that can begin with another row at any time."""

    def add(self, row: int, ids: Sequence[int]) -> Logits:
        """Read a prompt of at least one id in a new row: logits float[logit_width] after it.

        Row numbers are never used again.
        """
        ...


@dataclass
class _RowState:
    """A row: its ids, and the logits after each of the last of them."""

    ids: list[int]
    logits: list[Logits]


class CheckedBatchDecoder:
    """A BatchDecoder on top of a BatchedForward.

    Args:
        model: the model, for its number of logits and its context length.
        reader: computes; it has read the prompts.
        prompts: the ids of each row, without what the model reads before them.
        logits: float[logit_width] after each prompt.
        rewindable: see `BatchModel.start_batch`. For a vocabulary of 150,000 in float32, the
            logits of 32 rows of 200 ids take 4 GB; those of the last 27 ids take a seventh of it.
        opened: from the ids of a prompt to those that are read for it, such as a start token and
            the prompt. For rows that come later.
    """

    def __init__(
        self,
        model: HasLimits,
        reader: BatchedForward,
        prompts: Sequence[Sequence[int]],
        logits: Iterable[Logits],
        rewindable: int | None = None,
        opened: Callable[[list[int]], list[int]] = list,
    ) -> None:
        self._model = model
        self._opened = opened
        self._width = model.logit_width
        self._context_length = model.context_length
        self._reader = reader
        self._rewindable = rewindable
        self._texts = {
            row: _RowState(list(ids), [last])
            for row, (ids, last) in enumerate(zip(prompts, logits, strict=True))
        }
        self._next_row = len(self._texts)
        self._reading = Uninterrupted()

    @property
    def grows(self) -> bool:
        """Whether `add` works."""
        return isinstance(self._reader, GrowingForward)

    def add(self, prompt_ids: Sequence[int]) -> int:
        """Read a prompt in a new row. Other rows stay as they are.

        Returns:
            The number of the row; numbers are never used again.

        Raises:
            PromptError: the prompt exceeds the context.
            SettingsError: an id has no logit, or the batch does not grow.
        """
        if not isinstance(self._reader, GrowingForward):
            raise SettingsError(
                "expected a batch that can take another row, found one that cannot; start another "
                "batch once its rows have ended"
            )
        row = self._next_row
        with error_names_row(row):
            ids = checked_prompt(self._model, prompt_ids)
            opened = self._opened(ids)
            with self._reading.step():
                logits = self._reader.add(row, opened)
        self._texts[row] = _RowState(ids, [logits])
        self._next_row += 1
        return row

    def ids(self, row: int) -> Sequence[int]:
        """The ids of a row's prompt, then the pushed ones.

        Raises:
            SettingsError: there is no such row.
        """
        return tuple(self._text(row).ids)

    def logits(self, row: int) -> Logits:
        """Logits float[logit_width] of a row's next token.

        Raises:
            SettingsError: there is no such row.
        """
        return self._text(row).logits[-1]

    def push(self, tokens: Mapping[int, int]) -> None:
        """Read one more id in each row that is named; if one id is refused, none is read.

        Raises:
            CapacityError: the context of a row is full.
            InconsistentStateError: an earlier call was interrupted, or failed for want of memory.
            SettingsError: an id has no logit, or there is no such row.
            WrongTypeError: `tokens` is no mapping.
        """
        if not isinstance(tokens, Mapping):
            raise WrongTypeError(
                f"tokens: expected the id for each row, such as {{0: 17}}, found {shown(tokens)}"
            )
        checked = {row: self._readable(row, token) for row, token in tokens.items()}
        if not checked:
            return
        with self._reading.step():
            read = self._reader.push(checked)
            for (row, token), logits in zip(checked.items(), read, strict=True):
                text = self._texts[row]
                text.ids.append(token)
                text.logits.append(logits)
                if self._rewindable is not None:
                    del text.logits[: -self._rewindable - 1]

    def rewind(self, row: int, count: int) -> None:
        """Forget the last `count` pushed ids of a row, without computing anything.

        Raises:
            SettingsError: `count` is negative or exceeds what can be rewound, or there is no such
                row.
        """
        text = self._text(row)
        with error_names_row(row):
            count = require_pushed(count, len(text.logits) - 1)
        if count:
            with self._reading.step():
                del text.ids[-count:], text.logits[-count:]
                self._reader.rewind(row, count)

    def drop(self, row: int) -> None:
        """Forget a row.

        Raises:
            SettingsError: there is no such row.
        """
        self._text(row)
        with self._reading.step():
            del self._texts[row]
            self._reader.drop(row)

    def _text(self, row: int) -> _RowState:
        if row not in self._texts:
            raise SettingsError(
                f"expected one of the rows {', '.join(map(str, self._texts)) or '(none are left)'},"
                f" found {row}; name no row that was dropped"
            )
        return self._texts[row]

    def _readable(self, row: int, token: int) -> int:
        text = self._text(row)
        with error_names_row(row):
            (checked,) = checked_ids([token], self._width)
            require_room(len(text.ids), self._context_length)
        return checked


def checked_prompts(model: HasLimits, prompts: Iterable[Sequence[int]]) -> list[list[int]]:
    """The ids of each prompt as Python integers.

    Raises:
        PromptError: a prompt exceeds the context.
        SettingsError: an id has no logit.
    """
    return each_row(lambda ids: checked_prompt(model, ids), prompts)


def checked_prompt(model: HasLimits, ids: Sequence[int]) -> list[int]:
    """The ids of a prompt as Python integers. Raises as `checked_prompts`."""
    checked = checked_ids(ids, model.logit_width)
    require_prompt_fits(len(checked), model.context_length)
    return checked


def each_row(make: Callable[[Given], Made], rows: Iterable[Given]) -> list[Made]:
    """`make` of each row. An error that it raises names the row."""
    made = []
    for row, given in enumerate(rows):
        with error_names_row(row):
            made.append(make(given))
    return made


@contextmanager
def error_names_row(row: int) -> Iterator[None]:
    """Errors that are raised inside name the row that they are about.

    >>> with error_names_row(3):
    ...     raise SettingsError("expected another id")
    Traceback (most recent call last):
    ticore.errors.SettingsError: row 3: expected another id
    """
    try:
        yield
    except TicoreError as error:
        raise type(error)(f"row {row}: {error}") from error
