"""Several texts read side by side by one network, each rewound by itself.

The cache is padded at the left, and each row holds its text without holes up to the last slot:

    . a b c d      rows 1 and 2 are       . a b c d      x, y and z      . a b c d x
    p q r s t      rewound by 2 and 1:    . . p q r      are read:       . . p q r y
    . . u v w                             . . . u v                      . . . u v z

What is rewound is shifted out at the right when the next id is read. Keys are turned by their
position in the text, so it does not matter in which slot they lie. A sliding window counts slots
from the end, where there are no holes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.functional import pad
from transformers import Cache

from ticore.interfaces import Logits

from ._network import Network
from ._prompts import passes


@dataclass
class _CacheSlot:
    """Where a text lies.

    Attributes:
        place: the row of the cache that holds it.
        length: how many positions it has.
        excess: slots after them, which are to be shifted out.
    """

    place: int
    length: int
    excess: int = 0


class TorchBatchedForward:
    """A BatchedForward on a network that `pads`.

    Args:
        network: computes.
        keep: turns tensors of logits [n, width] into what is kept.
    """

    def __init__(self, network: Network, keep: Callable[[torch.Tensor], Logits]) -> None:
        self._network = network
        self._keep = keep
        self._cache = network.new_cache()
        self._places = 0
        self._rows: dict[int, _CacheSlot] = {}  # in the order of their places

    def begin(self, prompts: Sequence[Sequence[int]]) -> Logits:
        """Read the prompts of rows 0 to len(prompts) - 1: logits [rows, width] after each.

        They are read in as few passes as `_prompts.passes` says. One that several rows have is read
        once.

        Args:
            prompts: at least one, of at least one id each.
        """
        rows_of: dict[tuple[int, ...], list[int]] = {}
        for row, ids in enumerate(map(tuple, prompts)):
            rows_of.setdefault(ids, []).append(row)
        distinct = list(rows_of)
        together = [[ids] for ids in distinct]
        if self._network.keeps_last:  # else the logits of all ids of a pass would fill the memory
            together = [[distinct[n] for n in some] for some in passes(list(map(len, distinct)))]
        caches = [self._network.new_cache() for _ in together]
        each_pass = zip(together, caches, strict=True)
        logits = [self._network.read_prompts(some, cache) for some, cache in each_pass]
        read = [ids for some in together for ids in some]
        order = [row for ids in read for row in rows_of[ids]]
        self._places = len(order)
        self._rows = {row: _CacheSlot(at, len(prompts[row])) for at, row in enumerate(order)}
        with self._network.computing():
            self._cache = _joined(caches)
            copies = [number for number, ids in enumerate(read) for _ in rows_of[ids]]
            if len(copies) > len(read):
                self._cache.batch_select_indices(torch.tensor(copies, device=logits[0].device))
            of_rows = [copies[self._rows[row].place] for row in range(len(order))]
            return self._keep(torch.cat(logits)[of_rows])

    def add(self, row: int, ids: Sequence[int]) -> Logits:
        """Read a prompt in a new row: logits [width] after it."""
        cache = self._network.new_cache()
        logits = self._network.read(ids, cache)
        with self._network.computing():
            if self._rows:
                self._settle()
                self._cache = _joined([self._cache, cache])
            else:
                self._cache, self._places = cache, 0
            self._rows[row] = _CacheSlot(self._places, len(ids))
            self._places += 1
            return self._keep(logits)

    def push(self, tokens: Mapping[int, int]) -> list[Logits]:
        """Read one id in each of these rows: logits [width] of each, in this order.

        One pass reads all rows. In rows that are not named it reads a placeholder, which is shifted
        out again.
        """
        with self._network.computing():
            self._settle()
        read = self._network.read_each(
            [tokens.get(number, 0) for number in self._rows],
            self._cache,
            [row.length if number in tokens else 0 for number, row in self._rows.items()],
        )
        for number, row in self._rows.items():
            if number in tokens:
                row.length += 1
            else:
                row.excess += 1
        logits = self._keep(read)
        return [logits[self._rows[number].place] for number in tokens]

    def rewind(self, row: int, count: int) -> None:
        """Forget the last `count` ids of a row."""
        self._rows[row].length -= count
        self._rows[row].excess += count

    def drop(self, row: int) -> None:
        """Forget a row."""
        del self._rows[row]

    def _settle(self) -> None:
        """Make the cache hold the texts of the rows, padded at the left, and nothing else."""
        rows = list(self._rows.values())
        if len(rows) < self._places:
            places = torch.tensor([row.place for row in rows], device=self._network.module.device)
            self._cache.batch_select_indices(places)
            self._places = len(rows)
            for place, row in enumerate(rows):
                row.place = place
        common = min(row.excess for row in rows)
        if common:
            self._cache.crop(-common)
        for row in rows:
            if row.excess > common:
                for layer in _filled(self._cache):
                    _shift_right(layer.keys[row.place], row.excess - common)
                    _shift_right(layer.values[row.place], row.excess - common)
            row.excess = 0
        padding = self._cache.get_seq_length() - max(row.length for row in rows)
        if padding:
            for layer in _filled(self._cache):
                layer.keys = layer.keys[:, :, padding:]
                layer.values = layer.values[:, :, padding:]


def _filled(cache: Any) -> list[Any]:
    """The layers of a cache that hold something: in some networks a layer uses that of another."""
    return [layer for layer in cache.layers if layer.is_initialized]


def _joined(caches: Sequence[Cache]) -> Cache:
    """The rows of all these caches, side by side in the first one."""
    if len(caches) > 1:
        for layer, *others in zip(*map(_filled, caches), strict=True):
            layer.keys = _side_by_side([layer.keys, *(other.keys for other in others)])
            layer.values = _side_by_side([layer.values, *(other.values for other in others)])
    return caches[0]


def _side_by_side(parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """Tensors [n, heads, length, size] as one [rows, heads, longest, size], padded at the left."""
    longest = max(part.shape[2] for part in parts)
    return torch.cat([pad(part, (0, 0, longest - part.shape[2], 0)) for part in parts])


def _shift_right(row: torch.Tensor, count: int) -> None:
    """Move `row` [heads, slots, size] to the right by `count` slots; the last ones fall out."""
    row[:, count:] = row[:, :-count].clone()
