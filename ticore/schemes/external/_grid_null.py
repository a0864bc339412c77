"""The exact tail of a sum of scores on a grid, for texts of any length and tails of any size.

A token's score is a whole multiple of 1 / unit with known probabilities, and a text's total is a
sum of independent copies. The distribution of the total of n tokens has n unit + 1 points; one tail
of it is wanted.

1. Tilting (Esscher). Weighting each score s with exp(tilt s) moves the mean of the distribution to
   the observed total, where the distribution is known to many digits. Any tilt near the right one
   will do. So a short ladder of tilts serves all texts of similar length, and the transform of each
   is cached.
2. Wrapping. The tilted total lies within a few standard deviations of its mean, so a transform of
   that length is enough. What lies outside wraps around; Chernoff's bound limits how much it is.
3. Few frequencies. The n-th power of a transform is almost 0 except near its peaks. The sum of what
   is left out is computed when a tilt is cached.
4. The tail is a sum over the distribution with weights exp(-tilt r / unit). At each frequency these
   are a geometric series. So the tail is a sum over the frequencies that are left, some dozens.

The errors of 2, of 3 and of rounding are added up for each text. Where they exceed `_PRECISION` of
the result, the tilt is computed for this text. Where this is not enough either, the whole
distribution is computed.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock

import numpy as np
import numpy.typing as npt
import scipy

from .._evidence import BatchEvidence, Evidence, Floats, Ints, first_occurrences
from .._null_distributions import LikelihoodRatios, SingleTextMethods

# The greatest relative error of a p-value; and the rounding error for each token.
_PRECISION = 1e-7
_ROUNDING = 4e-15
# In standard deviations: from the middle of a transform to its ends; from one tilt to the next.
_REACH = 14.0
_STEP = 2.5
_SHORT = 1 << 15  # a transform of this length takes no time
_MOST_PULL = 500.0  # exp of more overflows
_NOTHING = 1e-20  # powers of a transform below this are left out
# With more points of the grid than this, a Fourier transform takes seconds and a gigabyte.
_MOST_EXACT = 1 << 23
# By about how many of its standard deviations watermarks raise a token's score.
_LIFTS = np.array([0.25, 0.5, 1.0])
_STEEPEST = 40.0  # times the unit: a steeper tilt leaves only the highest score
# Guards the caches of all objects: one with a lock of its own could not be pickled.
_LOCK = Lock()


@dataclass(frozen=True, eq=False)
class GridNull(SingleTextMethods):
    """Scores that are whole multiples of 1 / unit, with a known probability for each. Thread-safe.

    Tokens after equal seeds have equal scores.

    Attributes:
        chances: float64[unit + 1], the probabilities of the scores 0, 1 / unit, ..., 1.
    """

    chances: Floats

    @property
    def unit(self) -> int:
        return len(self.chances) - 1

    def strengths(self, texts: BatchEvidence) -> Floats:
        """The sum in standard deviations above its mean; nan without scores."""
        squares = texts.lengths.astype(np.float64)
        for at in np.flatnonzero(~_distinct(texts)).tolist():
            squares[at] = (_repeats(texts.text(at)) ** 2).sum()
        with np.errstate(invalid="ignore"):
            spread = self._spread * np.sqrt(squares)
            strengths: Floats = (texts.totals - self._mean * texts.lengths) / spread
        return strengths

    def p_values(self, texts: BatchEvidence) -> Floats:
        """The tail of the sum, exact to one part in a million.

        For very long texts the tilted sum is taken to be normal, which is then wrong by less than
        one part in a hundred: for more tokens than about 400,000 with 30 layers and weights from
        10 to 1, or more than 2^23 / unit tokens some of whose seeds are equal.
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

    def strongest(self, texts: BatchEvidence) -> Floats:
        """float64[texts]: the probability that every score is the highest there is."""
        highest = self.chances[np.flatnonzero(self.chances)[-1]]
        strongest: Floats = np.power(highest, _different_seeds(texts), dtype=np.float64)
        return strongest

    def likelihood_ratios(self, texts: BatchEvidence) -> LikelihoodRatios:
        """Ratios for tilts that raise scores by a part of a standard deviation."""
        tilts = _LIFTS / self._spread
        growth = np.array([self._moments(tilt)[0] for tilt in tilts.tolist()])
        ratios = tilts[:, None] * texts.all.scores - growth[:, None]
        return LikelihoodRatios(ratios, growth - tilts * self._mean, np.ones(len(tilts)))

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
        """By the number of tokens, rounded up to a power of two: tilts in rising order from 0, each
        with the mean and the standard deviation of a score."""
        return {}

    @cached_property
    def _transforms(self) -> dict[tuple[int, float], _Tilted]:
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
        """The transform of the ladder's tilt whose mean score is next to `mean`; cached."""
        with _LOCK:
            return self._near_unlocked(count, mean)

    def _near_unlocked(self, count: int, mean: float) -> _Tilted:
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
        if (most, tilt) not in self._transforms:
            self._transforms[most, tilt] = self._at(tilt, most)
        return self._transforms[most, tilt]

    def _at(self, tilt: float, most: int) -> _Tilted:
        return _Tilted.of(self.chances, tilt, most)

    def _tail_of_repeats(self, repeats: Ints, total: int) -> float:
        """As `_tail` where scores count several times each, from the whole distribution.

        Args:
            repeats: int64[k], how often each independent score counts.
            total: in units.
        """
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
            tail = float(scipy.special.log_ndtr(-beyond - steep))
            return min(1.0, math.exp(bound + steep * beyond + steep**2 / 2 + tail))
        length = scipy.fft.next_fast_len(length, real=True)
        transform = np.ones(length // 2 + 1, np.complex128)
        for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
            spaced = np.zeros(self.unit * size + 1)
            spaced[::size] = _tilted(self.chances, tilt * size)[0]
            transform *= scipy.fft.rfft(spaced, length) ** count
        density = scipy.fft.irfft(transform, length)[total:]
        weight = np.exp(-tilt / self.unit * np.arange(len(density)))
        share = float(density @ weight)
        # The tail is positive and below Chernoff's bound; only rounding could break either.
        return min(1.0, math.exp(bound) * (share if 0 < share < 1 else 1.0))

    def _moments(self, tilt: float) -> tuple[float, float, float]:
        """The logarithm of the mean of exp(tilt * score); the tilted score's mean and variance."""
        weights, top, highest = _tilted(self.chances, tilt)
        mean = float(weights @ self._grid)
        return tilt * highest + top, mean, float(weights @ (self._grid - mean) ** 2)

    def _tilt(self, total: int, sizes: Ints, counts: Ints) -> float:
        """The tilt that makes `total` the mean; 0 if `total` is below the mean without a tilt."""
        groups = list(zip(sizes.tolist(), counts.tolist(), strict=True))

        def missing(tilt: float) -> float:
            means = [count * size * self._moments(tilt * size)[1] for size, count in groups]
            return float(np.sum(means)) - total / self.unit

        if missing(0.0) >= 0:
            return 0.0
        steepest = _STEEPEST * self.unit / int(sizes.max())
        if missing(steepest) <= 0:
            return steepest
        return float(scipy.optimize.brentq(missing, 0, steepest))


@dataclass(frozen=True, eq=False)
class _Tilted:
    """Sums of scores whose probabilities are tilted.

    Attributes:
        tilt: see the module.
        most: how many scores are summed up: at most this many, and more than half as many.
        unit: of the scores.
        highest: the highest score that can occur, in units.
        top: the logarithm of the mean of exp(tilt (score - highest)) before tilting.
        mean, spread: of a score.
        length, reach: of the transform; how many of its points count as the total or more.
        places: int64[f], the frequencies that are not left out.
        transform: complex128[f], of one score.
        left_out: a bound on what the other frequencies add to a tail.
        bounds: for Chernoff's bound on what lies far above the mean, or below it.
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
        length = scipy.fft.next_fast_len(min(whole, wanted), real=True)
        # Chernoff: log P(sum - mean >= h) <= n (log E exp(pull (s - mean))) - pull h.
        bounds = []
        for reach in (_REACH / 2, _REACH):
            pull = min(reach / deviation, _MOST_PULL) if deviation else _MOST_PULL
            rise = most * math.log(float(weights @ np.exp(pull * (grid - mean))))
            fall = most * math.log(float(weights @ np.exp(-pull * (grid - mean))))
            bounds.append((pull, rise, fall))

        transform = scipy.fft.rfft(weights, length)
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
        the error may exceed `_PRECISION`."""
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
        # Phases are whole multiples of a part of a circle, reduced before they lose digits.
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
        """A bound on the probability of a sum that is this far above the mean."""
        return math.exp(min(0.0, *(rise - pull * distance for pull, rise, _ in self.bounds)))

    def _below(self, distance: float) -> float:
        return math.exp(min(0.0, *(fall - pull * distance for pull, _, fall in self.bounds)))


def _tilted(chances: Floats, tilt: float) -> tuple[Floats, float, float]:
    """The probabilities times exp(tilt score), normalized to a sum of 1; the logarithm of their sum
    before, divided by exp(tilt highest); the highest score that can occur."""
    unit = len(chances) - 1
    highest = int(np.flatnonzero(chances)[-1])
    weights: Floats = chances[: highest + 1] * np.exp(tilt / unit * np.arange(-highest, 1))
    total = float(weights.sum())
    return np.append(weights / total, np.zeros(unit - highest)), math.log(total), highest / unit


def _distinct(texts: BatchEvidence) -> npt.NDArray[np.bool_]:
    """bool[texts]: whether all seeds of a text differ."""
    found: npt.NDArray[np.bool_] = _different_seeds(texts) == texts.lengths
    return found


def _different_seeds(texts: BatchEvidence) -> Ints:
    """int64[texts]: how many different seeds each text has."""
    return texts.where(first_occurrences(texts.all.seeds, texts.text_numbers)).lengths


def _repeats(evidence: Evidence) -> Ints:
    """int64[k]: the number of tokens after each seed."""
    return np.unique(evidence.seeds, return_counts=True)[1]
