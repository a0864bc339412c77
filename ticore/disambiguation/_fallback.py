"""Dropping candidates, and the fallback where none is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..candidates import Bools, Ints, Pool
from ..errors import CapacityError


class DeadEndError(CapacityError):
    """No token can follow. Another text need not come to such a place."""


def keep_admitted(pool: Pool, outside: Iterator[Pool], admits: Callable[[Ints], Bools]) -> Pool:
    """The tokens of `pool` that `admits` accepts; without any, one token from outside.

    That one is the most probable of all tokens that are accepted. (Yan & Murawaki, section 4.)

    Args:
        pool: the candidates.
        outside: all other tokens, the most probable first, in several pools.
        admits: token ids int64[n] -> bool[n].

    Raises:
        DeadEndError: no token is accepted.
    """
    kept = pool.keep(admits(pool.ids))
    if len(kept):
        return kept
    for others in outside:
        found = others.keep(admits(others.ids))
        if len(found):
            return found.keep(slice(1))
    raise DeadEndError(
        "no token of the vocabulary can be read back here; "
        "try another prompt or more candidates (top_k, temperature)"
    )
