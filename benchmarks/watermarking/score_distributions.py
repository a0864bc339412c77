"""Scores of texts without a watermark, and of texts with one, drawn without writing any text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ticore.schemes import BinomialNull, ExponentialNull, HypergeometricNull
from ticore.schemes.external import TransformersSynthID

Floats = npt.NDArray[np.float64]

Draw = Callable[[np.random.Generator, int, int, float], Floats]
"""Draws scores, float64[texts, length], from a generator, the number of texts, their length in
tokens and the strength of the watermark, where 0 means no watermark."""


@dataclass(frozen=True)
class ScoreDistribution:
    """The scores that one kind of scheme gives.

    Attributes:
        null: the null distribution that detectors compare with.
        draw: draws scores.
        watermarks: for the texts that are watermarked in part: how many tokens, and how strongly.
        one_list: whether all tokens of a text are drawn from the same list.
    """

    null: Any
    draw: Draw
    watermarks: tuple[tuple[int, float], ...]
    one_list: bool = False


def greens(share: float) -> ScoreDistribution:
    """Lists with a share of greens. A watermark's strength is the share of greens in its text."""

    def draw(rng: np.random.Generator, texts: int, length: int, strength: float) -> Floats:
        return (rng.random((texts, length)) < (strength or share)).astype(np.float64)

    most = share * math.exp(2) / (share * math.exp(2) + 1 - share)
    watermarks = ((60, 0.9), (100, 0.8), (200, 0.7), (400, 0.65))
    if share < 0.5:
        watermarks = ((40, 0.7), (100, 0.55), (200, 0.45), (400, 0.4))
    return ScoreDistribution(BinomialNull(share, (share + most) / 2), draw, watermarks)


def one_list(size: int) -> ScoreDistribution:
    """One list for the whole text, half of it green, from which no token is drawn twice."""
    independent = greens(0.5)

    def draw(rng: np.random.Generator, texts: int, length: int, strength: float) -> Floats:
        if strength:
            return independent.draw(rng, texts, length, strength)
        scores = np.empty((texts, length))
        green = np.zeros(texts)
        for n in range(length):
            scores[:, n] = rng.random(texts) < (size // 2 - green) / (size - n)
            green += scores[:, n]
        return scores

    null = HypergeometricNull(0.5, independent.null.marked_share, size // 2, size)
    return ScoreDistribution(null, draw, independent.watermarks, one_list=True)


def exponential() -> ScoreDistribution:
    """Exponential scores of mean 1. A watermark's strength is the mean of its scores."""

    def draw(rng: np.random.Generator, texts: int, length: int, strength: float) -> Floats:
        return rng.exponential(strength or 1.0, (texts, length))

    return ScoreDistribution(ExponentialNull(), draw, ((15, 4.0), (25, 3.0), (60, 2.0), (140, 1.6)))


def synthid(*, weighted: bool) -> ScoreDistribution:
    """SynthID's scores. A watermark raises their mean by about `strength` standard deviations."""
    null = TransformersSynthID(list(range(400, 430)), 5, weighted=weighted).null
    values = np.arange(null.unit + 1)
    deviation = math.sqrt(null.chances @ values**2 - (null.chances @ values) ** 2)

    def draw(rng: np.random.Generator, texts: int, length: int, strength: float) -> Floats:
        tilted = np.cumsum(null.chances * np.exp(strength / deviation * (values - null.unit)))
        drawn = np.searchsorted(tilted / tilted[-1], rng.random((texts, length)), side="right")
        return np.minimum(drawn, null.unit) / null.unit

    return ScoreDistribution(null, draw, ((40, 1.2), (100, 0.75), (200, 0.5), (400, 0.35)))


DISTRIBUTIONS: dict[str, Callable[[], ScoreDistribution]] = {
    "greens, 1 of 2": lambda: greens(0.5),
    "greens, 1 of 4": lambda: greens(0.25),
    "one list of 32,000": lambda: one_list(32_000),
    "one list of 4,096": lambda: one_list(4096),
    "exponential": exponential,
    "synthid, weighted": lambda: synthid(weighted=True),
    "synthid, mean": lambda: synthid(weighted=False),
}
"""Each is made when it is used, since some take a second."""
