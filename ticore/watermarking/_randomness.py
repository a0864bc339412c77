"""Seeds: one convention for everything that writes texts.

- A writer without a seed draws a new seed for each call, and the result says which: `result.seed`.
- A call with `seed=N` writes the same text each time, whatever was written before.
- A writer that was made with `seed=N` writes the same *series* of texts each time: the first call
  is that of seed N, and each later one has a seed that follows from N and the number of the call,
  which its result says, too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from threading import Lock
from typing import Any

from .._support.checks import is_integer, require

_SEED_BITS = 53  # every reader of JSON knows integers of this size exactly


class Randomness:
    """The random numbers of the calls of one writer.

    Thread-safe. With a seed of the writer, the order of the calls decides which call gets which
    random numbers; it does not matter when their texts are written.

    Args:
        seed: of the writer.

    Raises:
        SettingsError: the seed is not an integer of at least 0.
    """

    def __init__(self, seed: int | None) -> None:
        self._seed = checked_seed(seed)
        self._calls = 0  # without a seed of their own
        self._lock = Lock()  # held while a call is counted

    def of_call(self, seed: int | None = None) -> tuple[random.Random, int]:
        """The random numbers of one call.

        Args:
            seed: of the call, if it has one of its own.

        Returns:
            A generator of its own, and the seed with which the call can be repeated.

        Raises:
            SettingsError: the seed is not an integer of at least 0.
        """
        used = checked_seed(seed)
        if used is None:
            used = self._next_seed()
        return random.Random(used), used

    def _next_seed(self) -> int:
        if self._seed is None:
            # From the system: otherwise both processes would draw the same seeds after a fork.
            return random.SystemRandom().getrandbits(_SEED_BITS)
        with self._lock:
            call, self._calls = self._calls, self._calls + 1
        return _seed_in_series(self._seed, call)

    def __getstate__(self) -> dict[str, Any]:
        return {"_seed": self._seed, "_calls": self._calls}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())


def _seed_in_series(seed: int, call: int) -> int:
    """The seed of call number `call`, from 0 on, of a writer with a seed."""
    if call == 0:
        return seed
    # In base 16, as Python limits the length of decimal numbers.
    return random.Random(f"{seed:x} {call}").getrandbits(_SEED_BITS)


def checked_seed(seed: int | None) -> int | None:
    """`seed`, if it is an integer of at least 0, or None. Raises SettingsError.

    Python seeds its random numbers with the absolute value, so -5 would be another name of 5.
    """
    fits = seed is None or (is_integer(seed) and seed >= 0)
    require(fits, "seed", "an integer of at least 0, or None", seed)
    return None if seed is None else int(seed)  # one of NumPy has 64 bits at most


def row_randoms(randomness: random.Random) -> Callable[[int], random.Random]:
    """Random numbers of its own for each row of a batch, whichever rows there are.

    One number is taken from `randomness` for all of them, so the next batch gets others.
    """
    batch = randomness.getrandbits(64)
    return lambda row: random.Random(f"{batch} {row}")
