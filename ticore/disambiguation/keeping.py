"""Dropping candidates, and what stands in where none is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..candidates import Bools, Ints, Pool
from ..errors import CapacityError


def keep_those(pool: Pool, outside: Iterator[Pool], admits: Callable[[Ints], Bools]) -> Pool:
    """The tokens of `pool` that `admits` accepts; if there are none, one from outside.

    That is the paper's fallback: the most probable token of all that is accepted.
    (Yan & Murawaki, section 4.)

    Raises CapacityError where there is none.
    """
    kept = pool.keep(admits(pool.ids))
    if len(kept):
        return kept
    for others in outside:
        found = others.keep(admits(others.ids))
        if len(found):
            return found.keep(slice(1))
    raise CapacityError(
        "no token of the vocabulary can be read back here; "
        "try another prompt or more candidates (top_k, temperature)"
    )
