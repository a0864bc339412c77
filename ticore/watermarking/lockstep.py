"""Many texts at once: each is rolled back by itself, one forward pass serves all.

    the rows sample, commit and roll back, each until it has to read a token:

        row 0   The morning was c|          reads "old"
        row 1   It was l|                   took back "at", then sampled "ate": reads it
        row 2   She opened the door.        has ended: dropped

    one pass reads one token in each row that is left; and again.

What becomes of a text is decided by its Rollback alone, as if there were no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from ..interfaces import BatchDecoder, Logits


class Text(Protocol):
    """A text that is being written: a Rollback, or what looks after one."""

    @property
    def end(self) -> str | None:
        """Why it ended; None while it goes on."""
        ...

    @property
    def unread(self) -> int | None:
        """See Rollback."""
        ...

    def step(self) -> None:
        """See Rollback."""
        ...

    def mark_read(self) -> None:
        """See Rollback."""
        ...


class Row:
    """The Decoder of one row of a batch."""

    def __init__(self, batch: BatchDecoder, row: int) -> None:
        self._batch = batch
        self._row = row

    @property
    def ids(self) -> Sequence[int]:
        return self._batch.ids(self._row)

    def logits(self) -> Logits:
        return self._batch.logits(self._row)

    def push(self, token: int) -> None:
        """Read one more id in this row alone."""
        self._batch.push({self._row: token})

    def rewind(self, count: int) -> None:
        self._batch.rewind(self._row, count)


def in_lockstep(batch: BatchDecoder, texts: Sequence[Text]) -> Iterator[int]:
    """Write all texts to their ends, and yield the number of each when it has ended.

    Args:
        batch: has one row for each text, and drops it when the text has ended.
        texts: the one of row n is the n-th, its decoder `Row(batch, n)`.
    """
    writing = dict(enumerate(texts))
    while writing:
        reading: dict[int, int] = {}
        for row, text in list(writing.items()):
            token = _next_to_read(text)
            if token is None:
                del writing[row]
                batch.drop(row)
                yield row
            else:
                reading[row] = token
        batch.push(reading)
        for row in reading:
            writing[row].mark_read()


def _next_to_read(text: Text) -> int | None:
    """Go on with a text until it has to read a token: which; None if it has ended."""
    while text.end is None and text.unread is None:
        text.step()
    return text.unread
