"""Seeds: one convention for everything that writes texts.

- A writer without a seed draws a new seed for each call, and the result says which: `result.seed`.
- A call with `seed=N` writes the same text each time, whatever was written before.
- A writer that was made with `seed=N` writes the same *series* of texts each time: the first call
  is that of seed N, and each later one continues its random numbers.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from ..errors import SettingsError, shown

_SEED_BITS = 53  # every reader of JSON knows integers of this size exactly


class Randomness:
    """The random numbers of the calls of one writer.

    Thread-safe. With a seed of the writer, the order of the calls decides which text gets which
    random numbers.

    Args:
        seed: of the writer.

    Raises:
        SettingsError: the seed is not an integer.
    """

    def __init__(self, seed: int | None) -> None:
        self._seed = checked_seed(seed)
        self._series = None if seed is None else random.Random(seed)
        self._begun = False

    def of_call(self, seed: int | None = None) -> tuple[random.Random, int | None]:
        """The random numbers of one call.

        Args:
            seed: of the call, if it has one of its own.

        Returns:
            A generator, and the seed with which the call can be repeated, if there is one.

        Raises:
            SettingsError: the seed is not an integer.
        """
        if checked_seed(seed) is not None:
            return random.Random(seed), seed
        if self._series is None:
            # From the system: otherwise both processes would draw the same seeds after a fork.
            drawn = random.SystemRandom().getrandbits(_SEED_BITS)
            return random.Random(drawn), drawn
        repeatable, self._begun = not self._begun, True
        return self._series, self._seed if repeatable else None


def checked_seed(seed: int | None) -> int | None:
    """`seed`, if it is an integer or None. Raises SettingsError."""
    if seed is not None and not isinstance(seed, int):
        raise SettingsError(f"seed: expected an integer, or None, found {shown(seed)}")
    return seed


def row_randoms(randomness: random.Random) -> Callable[[int], random.Random]:
    """Random numbers of its own for each row of a batch, whichever rows there are.

    One number is taken from `randomness` for all of them, so the next batch gets others.
    """
    batch = randomness.getrandbits(64)
    return lambda row: random.Random(f"{batch} {row}")
