"""Prompts and texts as `generate` has them: rows of ids, padded at the left."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import torch


class Sequences:
    """The ids of each row: the prompt with its padding, then what was written.

    Args:
        prompts: int64[rows, n].
        most: how many tokens a row may get.

    Attributes:
        width: n, where texts begin.
    """

    def __init__(self, prompts: torch.Tensor, most: int) -> None:
        self.width = prompts.shape[1]
        self._ids = torch.cat([prompts, prompts.new_zeros(len(prompts), most + 1)], dim=1)

    def put(self, rows: Sequence[int], positions: Sequence[int], tokens: torch.Tensor) -> None:
        """Write one token int64[len(rows)] into each of these rows, over what stood there.

        Args:
            rows: distinct.
            positions: the number of tokens of the text that stand before it.
            tokens: on any device.
        """
        device = self._ids.device
        places = torch.tensor([rows, [self.width + position for position in positions]])
        at_rows, at_places = places.to(device)
        self._ids[at_rows, at_places] = tokens.to(device)

    def of(self, rows: Sequence[int], length: int) -> Any:
        """int64[len(rows), width + length]: the ids of rows whose texts have this length."""
        if list(rows) == list(range(len(self._ids))):
            return self._ids[:, : self.width + length]
        return self._ids[list(rows), : self.width + length]


def by_length(lengths: Sequence[int]) -> list[tuple[int, list[int]]]:
    """(length, the places in `lengths` that have it) for each length.

    >>> by_length([5, 4, 5])
    [(4, [1]), (5, [0, 2])]
    """
    places = sorted(range(len(lengths)), key=lengths.__getitem__)
    return [(length, list(same)) for length, same in groupby(places, key=lengths.__getitem__)]
