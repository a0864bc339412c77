"""What a random program may give, and how probable each outcome is: all its choices are tried."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from ticore.errors import CapacityError
from ticore.watermarking import Sampler
from ticore.watermarking._text_loop import TextLoop

Outcome = TypeVar("Outcome")

Choose = Callable[[Sequence[float]], int]
"""`f(probabilities)`: an index, chosen with these probabilities, which sum up to 1."""


def outcomes(program: Callable[[Choose], Outcome]) -> Iterator[tuple[Outcome, float]]:
    """Each path through a program that takes its random choices from `choose` alone.

    The program is run once per path, so it must end on every path.

    Yields:
        What the program returned, and the probability of the path.

    >>> list(outcomes(lambda choose: choose([0.5, 0.5]) + choose([0.25, 0.75])))
    [(0, 0.125), (1, 0.375), (1, 0.125), (2, 0.375)]
    """
    path: list[list[int]] = []  # for each choice the indices that are left to try, the next last
    while True:
        at, probability = 0, 1.0

        def choose(probabilities: Sequence[float]) -> int:
            nonlocal at, probability
            if at == len(path):
                path.append([n for n, share in enumerate(probabilities) if share > 0][::-1])
            index = path[at][-1]
            at += 1
            probability *= probabilities[index]
            return index

        yield program(choose), probability
        while path and len(path[-1]) == 1:
            path.pop()
        if not path:
            return
        path[-1].pop()


def distribution(
    begin: Callable[[Sampler], TextLoop],
) -> tuple[dict[tuple[int, ...], float], float]:
    """The probability of each text that a loop may write, and that it gives up.

    Args:
        begin: a loop whose sampler this is.
    """

    def write(choose: Choose) -> tuple[int, ...] | None:
        text = begin(sampler_of(choose))
        try:
            list(text.run())
        except CapacityError:
            return None
        return tuple(text.committed)

    found = defaultdict[tuple[int, ...] | None, float](float)
    for text, p in outcomes(write):
        found[text] += p
    given_up = found.pop(None, 0.0)
    return {text: p for text, p in found.items() if text is not None}, given_up


def sampler_of(choose: Choose) -> Callable[[Sequence[int], np.ndarray], int]:
    """A sampler by probability whose random choices `choose` makes."""

    def sample(ids: Sequence[int], logits: np.ndarray) -> int:
        return choose(softmax(logits))

    return sample


def softmax(logits: np.ndarray) -> list[float]:
    """The probabilities of float[n] logits."""
    raised = np.exp(logits - logits.max())
    return (raised / raised.sum()).tolist()
