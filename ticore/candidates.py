"""The candidate pool: what a step may choose from, as integers that every machine agrees on.

Logits are rounded to a grid once; from there on everything is integer arithmetic, so two machines
whose logits round alike have equal pools to the last bit (temperature, top-k, top-p and weights).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from .errors import ModelError, SettingsError
from .interfaces import LanguageModel, Logits, Tokenizer

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MASS_BITS = 30  # a mass is exp(rounded logit - the largest one) in units of 2^-30
MAX_WEIGHT_BITS = 32  # mass x weight then stays below 2^63
MAX_GRID_BITS = 12  # the table of exponentials has 21 x 2^grid_bits entries
_TOP_P_BITS = 30
_FALLBACK_CHUNK = 64
# Below any rounded logit: an id that is never a candidate.
_NEVER = np.int64(-(2**62))
_CLIP = 2**40


@dataclass(frozen=True)
class PoolSettings:
    """What shapes a pool.

    Attributes:
        temperature: divides the logits; finite and above 0.
        top_k: keep the k most probable tokens; None keeps all.
        top_p: of those keep the fewest that hold this share of their probability; in (0, 1].
        grid_bits: logits are rounded to multiples of 2^-grid_bits; 0 to 12.
        weight_bits: weights sum to 2^weight_bits; 8 to 32.

    Raises:
        SettingsError: a value is out of range.
    """

    temperature: float = 1.0
    top_k: int | None = 64
    top_p: float = 1.0
    grid_bits: int = 10
    weight_bits: int = 32

    def __post_init__(self) -> None:
        for name, most in (("temperature", sys.float_info.max), ("top_p", 1.0)):
            value = getattr(self, name)
            number = isinstance(value, int | float) and not isinstance(value, bool)
            limit = "finite" if most > 1 else "at most 1"
            _expect(number and 0 < value <= most, name, f"a number above 0 and {limit}", value)
            object.__setattr__(self, name, float(value))
        if self.top_k is not None:
            _expect_integer("top_k", self.top_k, 1, None)
        _expect_integer("grid_bits", self.grid_bits, 0, MAX_GRID_BITS)
        _expect_integer("weight_bits", self.weight_bits, 8, MAX_WEIGHT_BITS)


@dataclass(frozen=True)
class Pool:
    """Tokens to choose from, the most probable first, equal ones by id.

    Attributes:
        ids: int64[n], distinct token ids.
        levels: int64[n], their rounded logits in units of 2^-grid_bits.
        grid_bits: the grid that `levels` lie on.
    """

    ids: Ints
    levels: Ints
    grid_bits: int = 10

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def mass(self) -> Ints:
        """Unnormalised probabilities int64[n] in units of 2^-30, the largest being 1.

        0 where a token is fainter than that. They are relative to this pool's own largest one,
        so a pool that lost its most probable token still tells the others apart.
        """
        table = _exponentials(self.grid_bits)
        below = self.levels.max(initial=_NEVER) - self.levels
        mass: Ints = table[np.minimum(below, len(table) - 1)]
        return mass

    def keep(self, which: Bools | slice) -> Pool:
        """The pool of the tokens that `which`, a mask bool[n] or a slice, selects."""
        return Pool(self.ids[which], self.levels[which], self.grid_bits)


def to_weights(mass: Ints, bits: int) -> Ints:
    """Integer weights int64[n] in proportion to `mass`, each at least 1, that sum to 2^bits.

    Args:
        mass: int64[n], 0 to 2^30 each; what rounding leaves over goes to the first.
        bits: 8 to 32.

    Raises:
        SettingsError: n is more than half of 2^bits.

    >>> to_weights(np.array([6, 2]), 8).tolist()
    [192, 64]
    """
    total, count = 1 << bits, len(mass)
    if 2 * count > total:
        raise SettingsError(
            f"a pool of {count} tokens needs weight_bits of at least {count.bit_length() + 1}, "
            f"found {bits}; raise it or lower top_k"
        )
    whole = max(int(mass.sum()), 1)
    weights = 1 + mass * (total - count) // whole
    weights[0] += total - int(weights.sum())
    return weights


class Candidates:
    """Turns logits into pools for one tokenizer and one set of settings."""

    def __init__(self, model: LanguageModel, settings: PoolSettings) -> None:
        self.settings = settings
        self._never = np.ones(model.logit_width, dtype=bool)
        never = non_candidates(model.tokenizer, model.eos_ids)
        self._never[: len(never)] = never

    def pool(self, logits: Logits) -> Pool:
        """The pool of one step. Raises ModelError for NaN or infinitely large logits."""
        return self._cut(self._round(logits))

    def outside(self, logits: Logits, pool: Pool) -> Iterator[Pool]:
        """The tokens that are not in `pool`, the most probable first, some at a time."""
        rounded = self._round(logits)
        rounded[pool.ids] = _NEVER
        order = np.argsort(-rounded, kind="stable")
        order = order[: int((rounded > _NEVER).sum())]
        for start in range(0, len(order), _FALLBACK_CHUNK):
            ids = order[start : start + _FALLBACK_CHUNK]
            yield Pool(ids, rounded[ids], self.settings.grid_bits)

    def _round(self, logits: Logits) -> Ints:
        scaled = np.asarray(logits, dtype=np.float64) / self.settings.temperature
        if np.isnan(scaled).any() or np.isposinf(scaled).any():
            raise ModelError(
                "expected finite logits, found NaN or infinity; "
                "check the model's files and its number format"
            )
        steps = np.clip(np.rint(scaled * (1 << self.settings.grid_bits)), -_CLIP, _CLIP)
        rounded = steps.astype(np.int64)
        rounded[self._never | np.isneginf(scaled)] = _NEVER
        return rounded

    def _cut(self, rounded: Ints) -> Pool:
        ids = _largest(rounded, self.settings.top_k)
        pool = Pool(ids, rounded[ids], self.settings.grid_bits)
        if self.settings.top_p == 1:
            return pool
        share = round(self.settings.top_p * (1 << _TOP_P_BITS))
        enough = -(-int(pool.mass.sum()) * share >> _TOP_P_BITS)
        count = int(np.searchsorted(np.cumsum(pool.mass), enough)) + 1
        return pool.keep(slice(count))


def non_candidates(tokenizer: Tokenizer, eos_ids: Iterable[int]) -> Bools:
    """Mask bool[vocab_size]: True for ids no text may be written with (special, end, empty)."""
    mask = np.array([not tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)], dtype=bool)
    never = [i for i in (*tokenizer.special_ids, *eos_ids) if i < len(mask)]
    mask[never] = True
    return mask


def _largest(values: Ints, count: int | None) -> Ints:
    """Indices of the `count` largest values above _NEVER: by value descending, then by index."""
    count = len(values) if count is None else min(count, len(values))
    least = max(np.partition(values, len(values) - count)[len(values) - count], _NEVER + 1)
    above = np.flatnonzero(values > least)
    ties = np.flatnonzero(values == least)[: count - len(above)]
    found = np.concatenate((above, ties))
    ordered: Ints = found[np.argsort(-values[found], kind="stable")]
    return ordered


@cache
def _exponentials(grid_bits: int) -> Ints:
    """Table int64[n] of floor(2^30 exp(-i / 2^grid_bits)), ending with a zero.

    Computed with integers alone: a float exp may differ in its last bit from machine to machine.
    """
    precision = 160
    one = 1 << precision
    # Taylor series of exp(-2^-grid_bits) in fixed point.
    ratio, term, n = 0, one, 0
    while term:
        ratio += term if n % 2 == 0 else -term
        n += 1
        term = (term >> grid_bits) // n
    table, value = [], one
    while value >> (precision - MASS_BITS):
        table.append(value >> (precision - MASS_BITS))
        value = value * ratio >> precision
    return np.array([*table, 0], dtype=np.int64)


def _expect_integer(name: str, found: int, least: int, most: int | None) -> None:
    # Settings also come from files, so the declared type is not to be relied on.
    whole = isinstance(found, int) and not isinstance(found, bool)
    expected = f"at least {least}" if most is None else f"{least} to {most}"
    in_range = whole and least <= found and (most is None or found <= most)
    _expect(in_range, name, f"a whole number, {expected}", found)


def _expect(holds: bool, name: str, expected: str, found: object) -> None:
    if not holds:
        raise SettingsError(f"{name}: expected {expected}, found {found!r}")
