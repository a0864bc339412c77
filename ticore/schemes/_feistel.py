"""A keyed random order of all tokens: a Feistel network that permutes the cells of a rectangle.

The tokens are the first cells. A token that the network moves to a cell without a token goes
through the network again, at most as often as there are cells without a token. `rectangle` leaves
few of them: at most 21 for vocabularies of up to 300,000 tokens.

In each round one coordinate moves by a random number that depends on the other one. So a network is
a function `f(round, coordinate)`: a number from 0 to 2^31 - 1 for a row or a column.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from array_api_compat import array_namespace, device

from ._word_arithmetic import Words, choose, looked_up

Rounds = Callable[[int, Words], Words]

TURNS = 6  # each coordinate of a cell is moved three times


@lru_cache
def rectangle(size: int) -> tuple[int, int]:
    """The rows and columns of a rectangle with hardly more cells than `size`.

    There are at least as many columns as rows.

    >>> rectangle(32_000), rectangle(50_257)
    ((160, 200), (140, 359))
    """
    root = math.isqrt(size)
    rows = min(range(root, max(root // 2, 1) - 1, -1), key=lambda rows: -size % rows)
    return rows, -(-size // rows)


def permuted_rank(rounds: Rounds, token: Words, size: int) -> Words:
    """The rank of a token in the order of all `size` tokens: 0 to `size` - 1."""
    rows, columns = rectangle(size)
    found = _permuted(rounds, token, rows, columns)
    for _ in range(rows * columns - size):
        again = _permuted(rounds, found, rows, columns)
        found = choose(found >= size, again, found)
    return found


def all_ranks(rounds: Rounds, halves: Words, size: int) -> Words:
    """The rank of each token, int[..., size], about ten times as fast as one by one.

    A round is computed once for each row or column, and looked up for each token. A coordinate is
    not reduced to the rectangle after each move, so the tables that it indexes repeat themselves.

    Args:
        rounds: returns numbers of shape [..., n] for `n` coordinates.
        halves: 0, 1, 2, ... to the greater of rows and columns, as words.
        size: of the vocabulary.
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
    # Each list has a table of its own. The coordinates include the offset of their table.
    lists = xp.arange(count, dtype=moves[0].dtype, device=device(halves))
    begin = xp.reshape(lists, (-1, 1, 1)) * length
    row = begin + _indices(at_row)[None, :, None]
    column = begin + _indices(at_column)[None, None, :]
    for turn in range(0, TURNS, 2):
        # The columns of the first round have not moved yet.
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
    """Ranks below `size` for the first `size` cells: higher ones go through the network again."""
    outside = found[:, size:]
    count = outside.shape[-1]
    inside = found[:, :size]
    # Where each cell without a token leads to in the end.
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
    """As signed integers: NumPy is slower with unsigned ones as indices."""
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
