"""Prompts and texts as `generate` has them: rows of ids, padded at the left."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import torch

# Room for the tokens of each row at first. A bound on them is often far above what a text reaches.
_COLUMNS = 256


class Sequences:
    """The ids of each row: the prompt with its padding, then what was written.

    Args:
        prompts: int64[rows, n].
        most: how many tokens a row may get. Room for them is made when they come.

    Attributes:
        width: n, where texts begin.
    """

    def __init__(self, prompts: torch.Tensor, most: int) -> None:
        self.width = prompts.shape[1]
        self._ids = _widened(prompts, min(most + 1, _COLUMNS))

    def put(self, rows: Sequence[int], positions: Sequence[int], tokens: torch.Tensor) -> None:
        """Write one token int64[len(rows)] into each of these rows, over what stood there.

        Args:
            rows: distinct.
            positions: the number of tokens of the text that stand before it.
            tokens: on any device.
        """
        device = self._ids.device
        missing = self.width + max(positions) + 1 - self._ids.shape[1]
        if missing > 0:
            self._ids = _widened(self._ids, max(missing, self._ids.shape[1]))
        places = torch.tensor([rows, [self.width + position for position in positions]])
        at_rows, at_places = places.to(device)
        self._ids[at_rows, at_places] = tokens.to(device)

    def of(self, rows: Sequence[int], length: int) -> Any:
        """int64[len(rows), width + length]: the ids of rows whose texts have this length."""
        if list(rows) == list(range(len(self._ids))):
            return self._ids[:, : self.width + length]
        return self._ids[list(rows), : self.width + length]


def _widened(ids: torch.Tensor, columns: int) -> torch.Tensor:
    """The ids int64[rows, n] with as many more columns at the right."""
    return torch.cat([ids, ids.new_zeros(len(ids), columns)], dim=1)


def by_length(lengths: Sequence[int]) -> list[tuple[int, list[int]]]:
    """(length, the places in `lengths` that have it) for each length.

    >>> by_length([5, 4, 5])
    [(4, [1]), (5, [0, 2])]
    """
    places = sorted(range(len(lengths)), key=lengths.__getitem__)
    return [(length, list(same)) for length, same in groupby(places, key=lengths.__getitem__)]
