"""What shapes a pool of candidates."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from ..errors import SettingsError, shown

MAX_WEIGHT_BITS = 32  # mass x weight then stays below 2^63
MAX_GRID_BITS = 12  # the table of exponentials has 21 x 2^grid_bits entries


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


def _expect_integer(name: str, found: int, least: int, most: int | None) -> None:
    # Settings also come from files, so the declared type is not to be relied on.
    whole = isinstance(found, int) and not isinstance(found, bool)
    expected = f"at least {least}" if most is None else f"{least} to {most}"
    in_range = whole and least <= found and (most is None or found <= most)
    _expect(in_range, name, f"a whole number, {expected}", found)


def _expect(holds: bool, name: str, expected: str, found: object) -> None:
    if not holds:
        raise SettingsError(f"{name}: expected {expected}, found {shown(found)}")
