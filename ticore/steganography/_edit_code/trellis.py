"""The trellis: a state after each bit, random numbers for states, and the best path.

bits            1   0   1   1 ... 0   0    a tail of zeros, after which the state is 0
states (of 12)  1   2   5   11 ...    0    the last 12 bits
"""

from __future__ import annotations

from typing import cast

import numpy as np
import numpy.typing as npt

MEMORY = 12
"""Bits of a state. One more halves the share of tokens that are wasted where few tokens fall, and
doubles the time to read."""

STATES = 1 << MEMORY

Bits = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint64]
Scores = npt.NDArray[np.float32]

_STATES = np.arange(STATES, dtype=np.uint64)
# Odd multipliers with well spread bits: the golden ratio's, and one found by Pelle Evensen.
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
_HALF = np.uint64(32)
_IMPOSSIBLE = np.float32(-1e30)


def steps_for(bits: int) -> int:
    """How many steps a trellis of that many bits has, its tail included."""
    return bits + MEMORY


def states_of(bits: Bits) -> npt.NDArray[np.int64]:
    """The state after each bit, and after those of the tail: int64[steps_for(len(bits))].

    Args:
        bits: uint8[n], 0 or 1 each.

    >>> states_of(np.array([1, 0, 1], dtype=np.uint8))[:4].tolist()
    [1, 2, 5, 10]
    """
    padded = np.zeros(MEMORY - 1 + len(bits) + MEMORY, dtype=np.int64)
    padded[MEMORY - 1 : MEMORY - 1 + len(bits)] = bits
    powers = 1 << np.arange(MEMORY)
    states = np.convolve(padded, powers, mode="valid")
    return cast(npt.NDArray[np.int64], states)


def numbers_of_states(mixing: int, mask: int) -> Numbers:
    """The number of each state under one window: uint64[STATES], each below 2^32.

    The mask makes each of them uniform. Mixing makes those of different states unlike each other,
    for which no secret is needed.
    """
    mixed = (_STATES + np.uint64(mixing)) * _FIRST
    mixed ^= mixed >> _HALF
    mixed *= _SECOND
    mixed >>= _HALF
    mixed ^= np.uint64(mask)
    return mixed


def best_path(scores: Scores) -> npt.NDArray[np.float32]:
    """Which bits fit best.

    Args:
        scores: float32[steps, STATES], how much speaks for each state at each step.

    Returns:
        float32[steps - MEMORY]: for each bit how much better the best path with a 1 there is than
        the best one with a 0.
    """
    steps, half = len(scores), STATES // 2
    forward = np.empty_like(scores)
    ahead = np.full(STATES, _IMPOSSIBLE, dtype=np.float32)
    ahead[0] = 0
    for step in range(steps):
        # State s comes from s // 2, or from the same with the bit that has dropped out.
        before = np.maximum(ahead[:half], ahead[half:])
        ahead = np.repeat(before, 2)
        ahead += scores[step]
        forward[step] = ahead
    margins = np.empty(steps, dtype=np.float32)
    beyond = np.full(STATES, _IMPOSSIBLE, dtype=np.float32)
    beyond[0] = 0
    for step in reversed(range(steps)):
        whole = forward[step] + beyond
        margins[step] = whole[1::2].max() - whole[0::2].max()
        beyond += scores[step]
        after = np.maximum(beyond[0::2], beyond[1::2])
        beyond = np.concatenate((after, after))
    return margins[: steps - MEMORY]
