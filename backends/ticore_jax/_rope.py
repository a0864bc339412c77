"""Rotary position embeddings: which variant a config.json asks for, and the angles it means.

default   pair i of a head turns by theta^(-2i / head_dim) per position
linear    all frequencies divided by `factor`
llama3    low frequencies divided by `factor`, high ones kept, those between interpolated
dynamic   as default: it differs only beyond max_position_embeddings, where nothing is read
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ticore.backend_kit.checkpoint import Fields

KINDS = ("default", "linear", "dynamic", "llama3")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rope:
    """A variant and its numbers, named as in `config.json`; those of other variants are 1."""

    kind: str
    theta: float
    factor: float = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 1.0
    original_context: int = 1


def parse_rope(fields: Fields, context: int) -> Rope:
    """What `rope_scaling` or `rope_parameters` of a config ask for.

    Raises:
        ModelFilesError: a variant that is not computed here, such as yarn, or a missing number.
    """
    inner = fields.section("rope_scaling", "rope_parameters")
    kind = inner.one_of("rope_type", inner.get("type", "default"), KINDS)
    for place in (fields, inner):
        place.one_of("partial_rotary_factor", 1, (1,))
    for name, value in inner.settings.items():
        if isinstance(value, dict):  # one variant for each kind of layer
            raise inner.error(name, "a number or a name", value)
    rope = Rope(str(kind), inner.positive("rope_theta", fields.positive("rope_theta", 10000.0)))
    if kind == "linear":
        return Rope("linear", rope.theta, inner.positive("factor"))
    if kind == "llama3":
        low, high = inner.positive("low_freq_factor"), inner.positive("high_freq_factor")
        if low >= high:
            raise inner.error("high_freq_factor", f"above low_freq_factor, {low}", high)
        original = inner.size("original_max_position_embeddings", context)
        return Rope("llama3", rope.theta, inner.positive("factor"), low, high, original)
    return rope


def frequencies(rope: Rope, head_dim: int) -> Floats:
    """Radians per position, float64[head_dim / 2], one for each pair of numbers of a head."""
    plain = rope.theta ** (-np.arange(0, head_dim, 2) / head_dim)
    if rope.kind == "linear":
        return plain / rope.factor
    if rope.kind == "llama3":
        # How often a frequency turns within the original context says how well it was trained.
        turns = rope.original_context * plain / (2 * math.pi)
        low, high = rope.low_freq_factor, rope.high_freq_factor
        kept = np.clip((turns - low) / (high - low), 0, 1)
        return plain * (kept + (1 - kept) / rope.factor)
    return plain


def angle_tables(rope: Rope, head_dim: int, positions: int) -> tuple[Floats, Floats]:
    """Cosines and sines float64[positions, head_dim / 2].

    They are computed in float64 for every dtype of model: at position 2000 a float32 angle is
    already wrong by 1e-4.
    """
    # An absurd rope_theta gives infinite angles, and these give NaN logits, which are refused.
    with np.errstate(all="ignore"):
        angles = np.outer(np.arange(positions), frequencies(rope, head_dim))
        return np.cos(angles), np.sin(angles)
