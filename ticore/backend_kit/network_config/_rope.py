"""Rotary position embeddings: which variant a config.json asks for, and the angles it means.

default   pair i of a head turns by theta^(-2i / head_dim) per position
linear    all frequencies divided by `factor`
llama3    low frequencies divided by `factor`, high ones kept, those between interpolated
yarn      as llama3, with other bounds; cosines and sines multiplied by `attention_factor`
dynamic   as default: it differs only beyond max_position_embeddings, where nothing is read
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..checkpoint import Fields
from ._facts import LATER

KINDS = ("default", "linear", "dynamic", "llama3", "yarn")
_ORIGINAL = "original_max_position_embeddings"

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rope:
    """A variant and its numbers, named as in `config.json`; those of other variants are 1.

    Attributes:
        original_context: `original_max_position_embeddings`.
        attention_factor: multiplies all cosines and sines.
        beta_fast, beta_slow: yarn keeps a pair that turns `beta_fast` times within the original
            context, and divides one that turns `beta_slow` times by `factor`.
        truncate: whether yarn rounds the bounds between those pairs to whole pairs.
    """

    kind: str
    theta: float
    factor: float = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 1.0
    original_context: int = 1
    attention_factor: float = field(default=1.0, metadata=LATER)
    beta_fast: float = field(default=1.0, metadata=LATER)
    beta_slow: float = field(default=1.0, metadata=LATER)
    truncate: bool = field(default=True, metadata=LATER)


def parse_rope(fields: Fields, context: int) -> Rope:
    """What `rope_scaling` or `rope_parameters` of a config ask for.

    Raises:
        ModelFilesError: a variant that is not computed here, such as longrope, or a missing number.
    """
    inner = fields.section("rope_scaling", "rope_parameters")
    fields.one_of("partial_rotary_factor", 1, (1,))
    if fields.get(_ORIGINAL) is not None:  # transformers prefers the one outside
        settings = {**inner.settings, _ORIGINAL: fields.size(_ORIGINAL)}
        inner = Fields(settings, inner.where, inner.advice)
    return parse_variant(inner, fields.positive("rope_theta", 10000.0), context)


def parse_variant(inner: Fields, theta: float, context: int, kinds: Sequence[str] = KINDS) -> Rope:
    """What one object with a `rope_type` asks for.

    Args:
        inner: the object's fields.
        theta: taken where the object names no `rope_theta`.
        context: taken where it names no `original_max_position_embeddings`.
        kinds: the variants that are computed.

    Raises:
        ModelFilesError: another variant, or a missing or invalid number.
    """
    kind = str(inner.one_of("rope_type", inner.get("type", "default"), kinds))
    inner.one_of("partial_rotary_factor", 1, (1,))
    for name, value in inner.settings.items():
        if isinstance(value, dict):  # one variant for each kind of layer
            raise inner.error(name, "a number or a name", value)
    theta = inner.positive("rope_theta", theta)
    if kind == "linear":
        return Rope(kind, theta, inner.positive("factor"))
    if kind == "llama3":
        return _llama3(inner, theta, context)
    if kind == "yarn":
        return _yarn(inner, theta, context)
    return Rope(kind, theta)


def _llama3(inner: Fields, theta: float, context: int) -> Rope:
    low, high = inner.positive("low_freq_factor"), inner.positive("high_freq_factor")
    if low >= high:
        raise inner.error("high_freq_factor", f"above low_freq_factor, {low}", high)
    original = inner.size(_ORIGINAL, context)
    return Rope("llama3", theta, inner.positive("factor"), low, high, original)


def _yarn(inner: Fields, theta: float, context: int) -> Rope:
    if theta <= 1:  # its logarithm divides
        raise inner.error("rope_theta", "above 1", theta)
    original = inner.size(_ORIGINAL, context)
    factor = inner.positive("factor", context / original)
    attention = _attention_scale(factor)
    if inner.get("mscale") and inner.get("mscale_all_dim"):
        scales = inner.positive("mscale"), inner.positive("mscale_all_dim")
        above, below = (_attention_scale(factor, scale) for scale in scales)
        attention = above / below
    return Rope(
        "yarn",
        theta,
        factor,
        original_context=original,
        attention_factor=inner.positive("attention_factor", attention),
        beta_fast=inner.positive("beta_fast", 32.0),
        beta_slow=inner.positive("beta_slow", 1.0),
        truncate=inner.flag("truncate", True),
    )


def _attention_scale(factor: float, scale: float = 1.0) -> float:
    """How much larger cosines and sines are than their angles make them; YaRN, section 3.4."""
    return 1.0 if factor <= 1 else 0.1 * scale * math.log(factor) + 1


def frequencies(rope: Rope, head_dim: int) -> Floats:
    """Radians per position, float64[head_dim / 2], one for each pair of numbers of a head."""
    plain: Floats = rope.theta ** (-np.arange(0, head_dim, 2) / head_dim)
    if rope.kind == "linear":
        return plain / rope.factor
    if rope.kind == "llama3":
        # How often a frequency turns within the original context says how well it was trained.
        turns = rope.original_context * plain / (2 * math.pi)
        low, high = rope.low_freq_factor, rope.high_freq_factor
        kept = np.clip((turns - low) / (high - low), 0, 1)
        return plain * (kept + (1 - kept) / rope.factor)
    if rope.kind == "yarn":
        first, last = _yarn_bounds(rope, head_dim)
        slowed = np.clip((np.arange(head_dim // 2) - first) / (last - first), 0, 1)
        return plain * (1 - slowed + slowed / rope.factor)
    return plain


def _yarn_bounds(rope: Rope, head_dim: int) -> tuple[float, float]:
    """The last pair that is kept, and the first that is divided by `factor`. They differ."""

    def pair(turns: float) -> float:
        """Which pair turns so often within the original context."""
        distance = math.log(rope.original_context) - math.log(turns) - math.log(2 * math.pi)
        return head_dim * distance / (2 * math.log(rope.theta))

    first, last = pair(rope.beta_fast), pair(rope.beta_slow)
    if rope.truncate:
        first, last = math.floor(first), math.ceil(last)
    # The upper bound counts numbers and not pairs: it is transformers' own.
    first, last = max(first, 0), min(last, head_dim - 1)
    return first, last + 0.001 if first == last else last


def angle_tables(rope: Rope, head_dim: int, stop: int, start: int = 0) -> tuple[Floats, Floats]:
    """Cosines and sines float64[stop - start, head_dim / 2] of the positions from `start` on.

    They are computed in float64 for every dtype of model: at position 2000 a float32 angle is
    already wrong by 1e-4.
    """
    # An absurd rope_theta gives infinite angles, and these give NaN logits, which are refused.
    with np.errstate(all="ignore"):
        angles = np.outer(np.arange(start, stop), frequencies(rope, head_dim))
        return np.cos(angles) * rope.attention_factor, np.sin(angles) * rope.attention_factor
