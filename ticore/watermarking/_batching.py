"""Many texts at once: each is rolled back by itself, and one forward pass serves all of them.

    each text samples, commits and rolls back until it has to read a token:

        row 0   The morning was c|          reads "old"
        row 1   It was l|                   took back "at", then sampled "ate": reads it
        row 2   She opened the door.        has ended: dropped

    one pass reads one token in each row that is left; then the texts go on.

Each text is decided by its own Rollback, as if there were no other text. A model that cannot read
several rows in one pass reads them one after the other, with the same results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..interfaces import BatchDecoder


def write_together(batch: BatchDecoder, reads: Sequence[Iterable[int]]) -> Iterator[int]:
    """Write all texts to their ends.

    Args:
        batch: has one row for each text, and drops it when the text has ended.
        reads: for row n the tokens that its decoder `RowDecoder(batch, n)` has to read, as
            `Rollback.reads` yields them.

    Yields:
        The row of each text when it has ended.
    """
    writing = {row: iter(tokens) for row, tokens in enumerate(reads)}
    while writing:
        reading: dict[int, int] = {}
        for row, tokens in list(writing.items()):
            token = next(tokens, None)
            if token is None:
                del writing[row]
                batch.drop(row)
                yield row
            else:
                reading[row] = token
        batch.push(reading)
