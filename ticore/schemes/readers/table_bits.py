"""Sums of scores on a grid, whose tail is exact however long the text and however small the tail.

A token's score is a whole multiple of 1 / unit with known chances, and a text's total is a sum of
independent copies. Its distribution has length n unit; what is wanted is one tail of it.

1. Tilting (Esscher). Weighting each score s with exp(tilt s) moves the middle of the distribution
   to the observed total, where it is known to many digits. Any tilt near the right one will do, so
   a short ladder of tilts serves all texts of similar length, and the transform of each is cached.
2. Wrapping. The tilted total lies within some standard deviations of its middle, so a transform of
   that length L is enough: what lies outside it is wrapped round, and by Chernoff's bound is less
   than a number that is computed.
3. Few frequencies. The n-th power of a transform is next to nothing but near its peaks. What is
   left out is added up when a tilt is cached.
4. The tail is a sum over the distribution with weights exp(-tilt r / unit), which are a geometric
   series at each frequency. So it is a sum over the frequencies that are left, some dozens.

Errors of 2 and 3 and of rounding are added up for each text. Where they exceed `_PRECISION` of the
result, the tilt is found for the text itself, and where that does not help either, the whole
distribution is computed.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import fft, optimize, special

from ..evidence import Evidence, Evidences, Floats, Ints, firsts
from ..significance import Bets, OneText

# The relative error of a p-value at most, and below it that of rounding for each token.
_PRECISION = 1e-7
_ROUNDING = 4e-15
# Standard deviations from the middle of a transform to its ends, and between neighbouring tilts.
_REACH = 14.0
_STEP = 2.5
_SHORT = 1 << 15  # a transform of this length takes no time
_MOST_PULL = 500.0  # exp of more overflows
_NOTHING = 1e-20  # powers of a transform below this are left out
# Beyond so many points of the grid a Fourier transform takes seconds and a gigabyte.
_MOST_EXACT = 1 << 23
# By how many of its standard deviations watermarks lift a token's score, roughly.
_LIFTS = np.array([0.25, 0.5, 1.0])
_STEEPEST = 40.0  # times the unit: by then all but the largest score is gone


@dataclass(frozen=True, eq=False)
class TableBits(OneText):
    """Scores that are whole multiples of 1 / unit, with a known probability for each.

    Tokens after equal seeds have equal scores.

    Attributes:
        chances: float64[unit + 1], of the scores 0, 1 / unit, ..., 1.
    """

    chances: Floats

    @property
    def unit(self) -> int:
        return len(self.chances) - 1

    def strengths(self, texts: Evidences) -> Floats:
        """The distance of the sum from its mean in standard deviations; nan without scores."""
        squares = texts.lengths.astype(np.float64)
        for at in np.flatnonzero(~_distinct(texts)).tolist():
            squares[at] = (_repeats(texts.text(at)) ** 2).sum()
        with np.errstate(invalid="ignore"):
            spread = self._spread * np.sqrt(squares)
            strengths: Floats = (texts.totals - self._mean * texts.lengths) / spread
        return strengths

    def p_values(self, texts: Evidences) -> Floats:
        """The tail of the sum, to one part in a million.

        For more than some 2^23 / 28 standard deviations of a score in units (400,000 tokens with 30
        layers and weights from 10 to 1), or more than 2^23 / unit tokens some of whose seeds are
        equal, the tilted sum is taken to be normal; at such lengths that is wrong by less than one
        part in a hundred.
        """
        units = np.rint(texts.all.scores * self.unit)
        totals = replace(texts, all=replace(texts.all, scores=units)).totals
        found = np.ones(len(totals))
        distinct = _distinct(texts).tolist()
        for at, (count, total) in enumerate(zip(texts.lengths.tolist(), totals, strict=True)):
            if count and distinct[at]:
                found[at] = self._tail(count, int(total))
            elif count:
                found[at] = self._tail_of_repeats(_repeats(texts.text(at)), int(total))
        return found

    def bets(self, texts: Evidences) -> Bets:
        """Ratios of scores under tilts that lift them by some part of a standard deviation."""
        tilts = _LIFTS / self._spread
        growth = np.array([self._moments(tilt)[0] for tilt in tilts.tolist()])
        ratios = tilts[:, None] * texts.all.scores - growth[:, None]
        return Bets(ratios, growth - tilts * self._mean, np.ones(len(tilts)))

    @cached_property
    def _grid(self) -> Floats:
        return np.arange(self.unit + 1) / self.unit

    @cached_property
    def _mean(self) -> float:
        return float(self.chances @ self._grid)

    @cached_property
    def _spread(self) -> float:
        return math.sqrt(float(self.chances @ (self._grid - self._mean) ** 2))

    @cached_property
    def _ladders(self) -> dict[int, list[tuple[float, float, float]]]:
        """By the number of tokens, rounded up to a power of two: tilts from 0 on, and the mean and
        the spread of a score of each."""
        return {}

    @cached_property
    def _kept(self) -> dict[tuple[int, float], _Tilted]:
        """The transforms that were needed so far, by number of tokens and tilt."""
        return {}

    def _tail(self, count: int, total: int) -> float:
        """The probability that `count` independent scores sum up to `total` units or more."""
        tilted = self._near(count, total / count / self.unit)
        found = tilted.tail(count, total)
        if found is None:
            found = self._at(self._tilt(total, np.array([1]), np.array([count])), count).tail(
                count, total
            )
        return self._tail_of_repeats(np.ones(count, np.int64), total) if found is None else found

    def _near(self, count: int, mean: float) -> _Tilted:
        """A cached tilt whose mean score is next to `mean`."""
        most = 1 << (count - 1).bit_length()
        ladder = self._ladders.setdefault(most, [])
        if not ladder:
            ladder.append((0.0, self._mean, self._spread))
        steepest = _STEEPEST * self.unit
        while ladder[-1][1] < mean and ladder[-1][0] < steepest:
            tilt, _, spread = ladder[-1]
            tilt = min(tilt + _STEP / (spread * math.sqrt(most)), steepest) if spread else steepest
            _, middle, variance = self._moments(tilt)
            ladder.append((tilt, middle, math.sqrt(variance)))
        above = bisect_left(ladder, mean, key=lambda rung: rung[1])
        tilt = min(ladder[max(above - 1, 0) : above + 1], key=lambda rung: abs(rung[1] - mean))[0]
        if (most, tilt) not in self._kept:
            self._kept[most, tilt] = self._at(tilt, most)
        return self._kept[most, tilt]

    def _at(self, tilt: float, most: int) -> _Tilted:
        return _Tilted.of(self.chances, tilt, most)

    def _tail_of_repeats(self, repeats: Ints, total: int) -> float:
        """The same where scores are taken several times each, from the whole distribution."""
        sizes, counts = np.unique(repeats, return_counts=True)
        tilt = self._tilt(total, sizes, counts)
        growth = mean = variance = 0.0
        for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
            one = self._moments(tilt * size)
            growth += count * one[0]
            mean += count * size * one[1]
            variance += count * size**2 * one[2]
        bound = growth - tilt * total / self.unit
        length = int(repeats.sum()) * self.unit + 1
        if length > _MOST_EXACT:
            spread = math.sqrt(variance)
            steep, beyond = tilt * spread, (total / self.unit - mean) / spread
            tail = float(special.log_ndtr(-beyond - steep))
            return min(1.0, math.exp(bound + steep * beyond + steep**2 / 2 + tail))
        length = fft.next_fast_len(length, real=True)
        transform = np.ones(length // 2 + 1, np.complex128)
        for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
            spaced = np.zeros(self.unit * size + 1)
            spaced[::size] = _tilted(self.chances, tilt * size)[0]
            transform *= fft.rfft(spaced, length) ** count
        density = fft.irfft(transform, length)[total:]
        weight = np.exp(-tilt / self.unit * np.arange(len(density)))
        share = float(density @ weight)
        # The tail is below Chernoff's bound; rounding alone could make it otherwise, or negative.
        return min(1.0, math.exp(bound) * (share if 0 < share < 1 else 1.0))

    def _moments(self, tilt: float) -> tuple[float, float, float]:
        """The logarithm of the mean of exp(tilt * score); the tilted score's mean and variance."""
        weights, top, highest = _tilted(self.chances, tilt)
        mean = float(weights @ self._grid)
        return tilt * highest + top, mean, float(weights @ (self._grid - mean) ** 2)

    def _tilt(self, total: int, sizes: Ints, counts: Ints) -> float:
        """The tilt that makes `total` the mean; 0 if it is below the mean already."""
        groups = list(zip(sizes.tolist(), counts.tolist(), strict=True))

        def missing(tilt: float) -> float:
            means = [count * size * self._moments(tilt * size)[1] for size, count in groups]
            return float(np.sum(means)) - total / self.unit

        if missing(0.0) >= 0:
            return 0.0
        steepest = _STEEPEST * self.unit / int(sizes.max())
        return steepest if missing(steepest) <= 0 else float(optimize.brentq(missing, 0, steepest))


@dataclass(frozen=True, eq=False)
class _Tilted:
    """Sums of up to `most` scores, more than half as many, whose chances are tilted.

    Attributes:
        tilt, most: see above.
        unit: of the scores.
        highest: the highest score that can occur, in units.
        top: the logarithm of the mean of exp(tilt (score - highest)) before tilting.
        mean, spread: of a score.
        length, reach: of the transform; how many of its points count as the total or more.
        places: int64[f], the frequencies that are kept.
        transform: complex128[f], of one score.
        left_out: what the other frequencies can add to a tail.
        bounds: numbers for the bound on what lies far above the middle, or below it.
    """

    tilt: float
    most: int
    unit: int
    highest: int
    top: float
    mean: float
    spread: float
    length: int
    reach: int
    places: Ints
    transform: npt.NDArray[np.complex128]
    left_out: float
    bounds: tuple[tuple[float, float, float], ...]

    @classmethod
    def of(cls, chances: Floats, tilt: float, most: int) -> _Tilted:
        unit = len(chances) - 1
        grid = np.arange(unit + 1) / unit
        weights, top, highest = _tilted(chances, tilt)
        mean = float(weights @ grid)
        spread = math.sqrt(float(weights @ (grid - mean) ** 2))

        deviation = spread * math.sqrt(most)
        whole = most * unit + 1
        wanted = max(2 * math.ceil(_REACH * deviation * unit), unit + 1, _SHORT)
        length = fft.next_fast_len(min(whole, wanted), real=True)
        # Chernoff: log P(sum - mean >= h) <= n (log E exp(pull (s - mean))) - pull h.
        bounds = []
        for reach in (_REACH / 2, _REACH):
            pull = min(reach / deviation, _MOST_PULL) if deviation else _MOST_PULL
            rise = most * math.log(float(weights @ np.exp(pull * (grid - mean))))
            fall = most * math.log(float(weights @ np.exp(-pull * (grid - mean))))
            bounds.append((pull, rise, fall))

        transform = fft.rfft(weights, length)
        least = most // 2 + 1
        sizes = np.abs(transform) ** least
        keep = sizes > _NOTHING
        keep[0] = True
        # A series whose ratio is z is at most 2 / |1 - z|; every frequency stands for two.
        rest = np.flatnonzero(~keep)
        apart = np.abs(np.expm1(-tilt / unit + 2j * math.pi / length * rest))
        left_out = float((sizes[rest] * (4 / apart)).sum()) / length
        places = np.flatnonzero(keep)
        return cls(
            tilt=tilt,
            most=most,
            unit=unit,
            highest=round(highest * unit),
            top=top,
            mean=mean,
            spread=spread,
            length=length,
            reach=length if length >= whole else length // 2,
            places=places,
            transform=transform[places],
            left_out=left_out,
            bounds=tuple(bounds),
        )

    def tail(self, count: int, total: int) -> float | None:
        """The probability that `count` untilted scores sum up to `total` units or more; None where
        it cannot be told to `_PRECISION`."""
        middle = count * self.mean
        if not self.tilt and self._below(middle - (total - 1) / self.unit) < _PRECISION / 10:
            return 1.0
        reach = min(self.reach, count * self.unit + 1 - total)
        error = self.left_out + _ROUNDING * count
        if self.reach < self.length:
            error += self._above((total + self.reach) / self.unit - middle)
            error += self._below(middle - (total - self.length + self.reach - 1) / self.unit)
        if not error < 1:
            return None
        # Phases are whole multiples of a circle's part, reduced before they lose digits.
        circle = 2j * math.pi / self.length
        step = -self.tilt / self.unit
        last = step * reach + circle * (self.places * reach % self.length)
        ratio = step + circle * self.places
        with np.errstate(divide="ignore", invalid="ignore"):
            series = np.expm1(last) / np.expm1(ratio)
        if not self.tilt:
            series[0] = reach
        turned = np.exp(circle * (self.places * total % self.length))
        terms = (self.transform**count * turned * series).real
        twice = np.where((self.places == 0) | (2 * self.places == self.length), 1.0, 2.0)
        share = float(terms @ twice) / self.length
        if not error < _PRECISION * share:
            return None
        beyond = (count * self.highest - total) / self.unit
        return min(1.0, math.exp(count * self.top + self.tilt * beyond) * share)

    def _above(self, distance: float) -> float:
        """At most this is the probability of a sum so far above the middle."""
        return math.exp(min(0.0, *(rise - pull * distance for pull, rise, _ in self.bounds)))

    def _below(self, distance: float) -> float:
        return math.exp(min(0.0, *(fall - pull * distance for pull, _, fall in self.bounds)))


def _tilted(chances: Floats, tilt: float) -> tuple[Floats, float, float]:
    """The chances times exp(tilt score), made to add up to 1; the logarithm of what they add up to
    before, over exp(tilt highest); the highest score that can occur."""
    unit = len(chances) - 1
    highest = int(np.flatnonzero(chances)[-1])
    weights: Floats = chances[: highest + 1] * np.exp(tilt / unit * np.arange(-highest, 1))
    total = float(weights.sum())
    return np.append(weights / total, np.zeros(unit - highest)), math.log(total), highest / unit


def _distinct(texts: Evidences) -> npt.NDArray[np.bool_]:
    """bool[texts]: whether all seeds of a text differ."""
    first = texts.where(firsts(texts.all.seeds, texts.numbers))
    found: npt.NDArray[np.bool_] = first.lengths == texts.lengths
    return found


def _repeats(evidence: Evidence) -> Ints:
    """int64[k]: how many tokens stand after each seed."""
    return np.unique(evidence.seeds, return_counts=True)[1]
