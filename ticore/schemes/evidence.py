"""What the tokens of a text say about a watermark."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Evidence:
    """The tokens that a scheme can score, in the text's order: arrays of one length n.

    Attributes:
        positions: int64[n], where they stand in the list of tokens.
        seeds: int64[n], what their random numbers are drawn from: any 64 bits.
        draws: int64[n], what counts once: of equal ones only the first says something. Mostly they
            tell which random number a token has; see `draws`.
        scores: float64[n].
    """

    positions: Ints
    seeds: Ints
    draws: Ints
    scores: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.draws)

    def distinct(self) -> Evidence:
        """The first of each draw.

        To count it again says nothing new, and would make repetitive text look watermarked
        (Fernandez et al. 2023, section 3.2).
        """
        _, first = np.unique(self.draws, return_index=True)
        return self.where(np.sort(first))

    def where(self, which: Ints | npt.NDArray[np.bool_] | slice) -> Evidence:
        """The rows that an index selects."""
        return Evidence(
            self.positions[which], self.seeds[which], self.draws[which], self.scores[which]
        )


def draws(seeds: Ints, tokens: Ints) -> Ints:
    """One number for each pair of a seed and a token: int64[n].

    Where all seeds are below 2^32, and token ids are, no two pairs share a number. Wider seeds are
    random, so that two given pairs share one with probability 2^-64.

    >>> draws(np.array([1, -1]), np.array([5, 5])).tolist()
    [4294967301, 4]
    """
    turned: Ints = seeds << 32 | seeds >> 32 & 0xFFFFFFFF
    return turned + tokens
