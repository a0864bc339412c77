"""Texts that are read side by side: what every batch keeps of its rows, and refuses.

    rows = Rows(model, reader, prompts, logits)   # a BatchDecoder
    rows.push({0: 17, 2: 5})                      # checked, then read by the reader in one pass

A backend brings a `RowReader`, which computes; ids, logits to come back to, and checks are the same
everywhere and kept here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from .errors import SettingsError, TicoreError
from .interfaces import Logits
from .limits import Bounded, checked_ids, require_prompt_fits, require_pushed, require_room

Given = TypeVar("Given")
Made = TypeVar("Made")


class RowReader(Protocol):
    """The part of a batch that computes. It is asked for nothing that it cannot do."""

    def push(self, tokens: Mapping[int, int]) -> Iterable[Logits]:
        """Read one id in each of these rows: logits float[logit_width] of each, in this order."""
        ...

    def rewind(self, row: int, count: int) -> None:
        """Forget the last `count` ids of a row."""
        ...

    def drop(self, row: int) -> None:
        """Forget a row."""
        ...


@dataclass
class _Text:
    """A row: its ids, and the logits after each of the last of them."""

    ids: list[int]
    logits: list[Logits]


class Rows:
    """A BatchDecoder on top of a RowReader.

    Args:
        model: whose logits they are.
        reader: has read the prompts.
        prompts: of the rows, without what the model reads before them.
        logits: after each prompt.
        rewindable: see `BatchModel.start_batch`. The logits of 32 rows of 200 ids take 4 GB where
            there are 150,000 in float32; those of the last 27 ids take a seventh of that.
    """

    def __init__(
        self,
        model: Bounded,
        reader: RowReader,
        prompts: Sequence[Sequence[int]],
        logits: Iterable[Logits],
        rewindable: int | None = None,
    ) -> None:
        self._width = model.logit_width
        self._context_length = model.context_length
        self._reader = reader
        self._rewindable = rewindable
        self._texts = {
            row: _Text(list(ids), [last])
            for row, (ids, last) in enumerate(zip(prompts, logits, strict=True))
        }

    def ids(self, row: int) -> Sequence[int]:
        """The ids of a row's prompt, then the pushed ones. Raises SettingsError: no such row."""
        return tuple(self._text(row).ids)

    def logits(self, row: int) -> Logits:
        """Logits float[logit_width] of a row's next token. Raises SettingsError: no such row."""
        return self._text(row).logits[-1]

    def push(self, tokens: Mapping[int, int]) -> None:
        """Read one more id in each row that is named. Where one is refused, none is read.

        Raises:
            CapacityError: the context of a row is full.
            SettingsError: an id has no logit, or there is no such row.
        """
        checked = {row: self._readable(row, token) for row, token in tokens.items()}
        if not checked:
            return
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
        with naming(row):
            require_pushed(count, len(text.logits) - 1)
        if count:
            del text.ids[-count:], text.logits[-count:]
            self._reader.rewind(row, count)

    def drop(self, row: int) -> None:
        """Be done with a row. Raises SettingsError: no such row."""
        self._text(row)
        del self._texts[row]
        self._reader.drop(row)

    def _text(self, row: int) -> _Text:
        if row not in self._texts:
            raise SettingsError(
                f"expected one of the rows {', '.join(map(str, self._texts)) or '(none are left)'},"
                f" found {row}; name no row that was dropped"
            )
        return self._texts[row]

    def _readable(self, row: int, token: int) -> int:
        text = self._text(row)
        with naming(row):
            (checked,) = checked_ids([token], self._width)
            require_room(len(text.ids), self._context_length)
        return checked


def checked_prompts(model: Bounded, prompts: Iterable[Sequence[int]]) -> list[list[int]]:
    """The ids of each prompt as Python integers.

    Raises:
        PromptError: a prompt exceeds the context.
        SettingsError: an id has no logit.
    """

    def checked(ids: Sequence[int]) -> list[int]:
        require_prompt_fits(len(ids), model.context_length)
        return checked_ids(ids, model.logit_width)

    return each_row(checked, prompts)


def each_row(make: Callable[[Given], Made], rows: Iterable[Given]) -> list[Made]:
    """`make` of each row. What it raises says which row it is about."""
    made = []
    for row, given in enumerate(rows):
        with naming(row):
            made.append(make(given))
    return made


@contextmanager
def naming(row: int) -> Iterator[None]:
    """Errors that are raised inside say which of several rows they are about.

    >>> with naming(3):
    ...     raise SettingsError("expected another id")
    Traceback (most recent call last):
    ticore.errors.SettingsError: row 3: expected another id
    """
    try:
        yield
    except TicoreError as error:
        raise type(error)(f"row {row}: {error}") from error
