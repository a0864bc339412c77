"""What `torch.randperm` draws on a CPU: followed for one token, or for the first places alone.

Step i of the shuffle swaps place i with a later place (or itself), and no later step changes
place i.

Source: ATen/native/TensorFactories.cpp (`randperm_cpu`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .._evidence import Ints

_WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class CpuShuffle:
    """`torch.randperm` on a CPU, of at most 214,748,363 numbers. See `Shuffle`."""

    seed_bits = 32  # `manual_seed` takes 64, of which the generator uses the lower ones

    def is_among_first(self, seed: int, number: int, count: int, size: int) -> bool:
        """See `Shuffle`. A number stays where it is until a step swaps its place to the front, or
        until the step of its own place moves it further back."""
        swaps = _swaps(seed & _WORD, count, size)
        start, place = 0, number
        while not (swaps[start:place] == place).any():
            if place >= count:
                return False
            start, place = place + 1, int(swaps[place])
            if place == start - 1:
                return True
        return True

    def first(self, seed: int, count: int, size: int) -> Ints:
        """See `Shuffle`. Step i swaps place i with place `swaps[i]`, which is i or later. So what
        it takes from there was put there by the last earlier step that swapped with this place, and
        is what that step found at its own place; or it is the number that stood there from the
        beginning."""
        swaps = _swaps(seed & _WORD, count, size).astype(np.int64)
        steps = np.arange(count)
        order = np.argsort(swaps, kind="stable")
        targets = swaps[order]
        same = np.concatenate([[False], targets[1:] == targets[:-1]])
        before = np.full(count, -1)  # the last earlier step that swapped with the same place
        before[order[same]] = order[:-1][same[1:]]
        # Of the steps that swap with a step's own place: the last one; -1 where all targets are
        # later.
        last = np.searchsorted(targets, steps, side="right") - 1
        to_here = np.where(targets[last] == steps, order[last], -1)
        to_here = np.where(to_here == steps, before, to_here)
        found = np.where(to_here < 0, steps, to_here)  # what a step finds at its place: follow back
        while (found != found[found]).any():
            found = found[found]
        taken = np.where(before < 0, swaps, found[before])
        numbers: Ints = np.where(swaps == steps, found, taken)
        return numbers


# The swaps take 4 bytes per place: with the largest vocabulary, all of these take 128 MiB.
@lru_cache(maxsize=8)
def _swaps(seed: int, count: int, size: int) -> npt.NDArray[np.uint32]:
    """uint32[count]: the place that each of the first steps of `torch.randperm(size)` swaps with.

    `RandomState` seeds MT19937 as torch does, and its `bytes` are the generator's raw output.
    """
    words = np.frombuffer(np.random.RandomState(seed).bytes(4 * count), "<u4")
    steps = np.arange(count, dtype=np.uint32)
    swaps: npt.NDArray[np.uint32] = words % (np.uint32(size) - steps) + steps
    return swaps
