"""A keyed order of all tokens: a Feistel network that permutes the places of a rectangle.

The tokens are the first places. What the network puts outside goes through it again, which takes no
more turns than there are places outside; `rectangle` sees to it that these are one or two.

In each turn one coordinate moves by a random number that the other one gives. So a network is six
rounds, `f(turn, half)`: a number from 0 to 2^31 - 1 for a row or a column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from array_api_compat import array_namespace, device

from .words import Words, choose, looked_up

Rounds = Callable[[int, Words], Words]

TURNS = 6  # each coordinate of a place is moved three times


@lru_cache
def rectangle(size: int) -> tuple[int, int]:
    """Rows and columns, neither much more than the other, of hardly more places than `size`.

    >>> rectangle(32_000), rectangle(50_257)
    ((160, 200), (140, 359))
    """
    root = math.isqrt(size)
    rows = min(range(root, max(root // 2, 1) - 1, -1), key=lambda rows: -size % rows)
    return rows, -(-size // rows)


def place(rounds: Rounds, token: Words, size: int) -> Words:
    """The place of a token in the order of all `size` tokens: 0 to `size` - 1."""
    rows, columns = rectangle(size)
    found = _permuted(rounds, token, rows, columns)
    for _ in range(rows * columns - size):
        again = _permuted(rounds, found, rows, columns)
        found = choose(found >= size, again, found)
    return found


def all_places(rounds: Rounds, halves: Words, size: int) -> Words:
    """The place of each token, int[..., size]: the same, some ten times as fast.

    A round is asked for once for each row or column, and looked up for each token. What is looked
    up has moved further than the rectangle is wide, which is why tables repeat themselves.

    Args:
        rounds: its numbers are of shape [..., n] where it is given `n` halves.
        halves: 0, 1, 2, ... to the greater of rows and columns, in whatever keeps words.
    """
    rows, columns = rectangle(size)
    xp = array_namespace(halves)
    at_row, at_column = halves[:rows], halves[:columns]
    moves = [
        rounds(turn, at_row if turn % 2 else at_column) % (columns if turn % 2 else rows)
        for turn in range(TURNS)
    ]
    shape = moves[0].shape[:-1]
    moves = [_indices(xp.reshape(move, (-1, move.shape[-1]))) for move in moves]
    count = moves[0].shape[0]
    length = (TURNS // 2 + 1) * columns  # neither coordinate moves further; columns are no fewer
    # Each list has a table of its own, and the coordinates carry its beginning with them.
    lists = xp.arange(count, dtype=moves[0].dtype, device=device(halves))
    begin = xp.reshape(lists, (-1, 1, 1)) * length
    row = begin + _indices(at_row)[None, :, None]
    column = begin + _indices(at_column)[None, None, :]
    for turn in range(0, TURNS, 2):
        # The first turn's columns are still those of the rectangle itself.
        moved = moves[0][:, None, :] if turn == 0 else _looked_up(moves[turn], column, length)
        row = row + moved
        column = column + _looked_up(moves[turn + 1], row, length)
    begins = _indices(at_row)[None, :] * columns
    found = _looked_up(begins, row - begin, length) + _looked_up(
        _indices(at_column)[None, :], column - begin, length
    )
    found = xp.reshape(found, (count, rows * columns))
    found = _brought_inside(xp, found, size)
    return xp.reshape(found, (*shape, size))


def _brought_inside(xp: Any, found: Words, size: int) -> Words:
    """Places below `size` for the first `size`: what is outside goes round again."""
    outside = found[:, size:]
    count = outside.shape[-1]
    inside = found[:, :size]
    # Where each place outside leads to in the end.
    ends = outside
    for _ in range(count - 1):
        for at in range(count):
            ends = xp.where(ends == size + at, outside[:, at : at + 1], ends)
    for at in range(count):
        inside = xp.where(inside == size + at, ends[:, at : at + 1], inside)
    return inside


def _looked_up(table: Words, index: Words, length: int) -> Words:
    """The entries of tables [n, m], each repeated to `length`, at indices into all of them."""
    xp = array_namespace(table)
    times = -(-length // table.shape[-1])
    long = xp.reshape(xp.tile(table, (1, times))[:, :length], (-1,))
    return looked_up(long, index)


def _indices(words: Words) -> Words:
    """As signed integers: NumPy looks up by nothing else at full speed."""
    xp = array_namespace(words)
    if words.dtype == getattr(xp, "uint32", None):
        return xp.astype(words, xp.int64)
    return words


def _permuted(rounds: Rounds, at: Words, rows: int, columns: int) -> Words:
    row, column = at // columns, at % columns
    for turn in range(0, TURNS, 2):
        row = (row + rounds(turn, column) % rows) % rows
        column = (column + rounds(turn + 1, row) % columns) % columns
    return row * columns + column
