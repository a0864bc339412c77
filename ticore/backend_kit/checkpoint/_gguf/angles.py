"""How the angles of rotary embeddings are scaled, for contexts longer than those of training."""

from __future__ import annotations

import numpy as np

from ....errors import ModelFilesError
from .source import ANGLES, OTHERWISE, Source
from .unpacking import unpacked

# What Llama 3.1 and its descendants share.
_LOW, _HIGH, _CONTEXT = 1.0, 4.0, 8192


def rope_scaling(source: Source, theta: float, head_dim: int) -> dict[str, object] | None:
    """`rope_scaling` of a config.json.

    Args:
        source: the file.
        theta: base of the angles.
        head_dim: width of a head.

    Raises:
        ModelFilesError: the angles are scaled in a way that is not known here.
    """
    fields = source.fields
    kind = fields.one_of("rope.scaling.type", "linear", ("none", "linear", "yarn"))
    scaled = "rope.scaling.factor" in fields.settings
    if source.has(ANGLES):
        if scaled:
            raise fields.error("rope.scaling.factor", f"absent beside {ANGLES}", kind)
        return _llama3_scaling(source, theta, head_dim)
    if not scaled and kind != "yarn":
        return None
    fields.one_of("rope.scaling.type", "linear", ("linear", "yarn"))
    scaling = {"rope_type": kind, "factor": fields.positive("rope.scaling.factor")}
    if kind == "yarn":
        context = fields.size("context_length")
        original = fields.size("rope.scaling.original_context_length", context)
        scaling["original_max_position_embeddings"] = original
        for name in ("beta_fast", "beta_slow"):
            if (key := f"rope.scaling.yarn_{name}") in fields.settings:
                scaling[name] = fields.positive(key)
    return scaling


def _llama3_scaling(source: Source, theta: float, head_dim: int) -> dict[str, object]:
    """The settings from which llama.cpp has computed `rope_freqs.weight`.

    All models of the family share three of the four. The fourth is the largest divisor.
    """
    packed = source.container.tensors[ANGLES]
    if packed.kind.name == "F32" and packed.shape == (head_dim // 2,):
        found = unpacked(packed).astype(np.float64)
        factor, context = float(found.max()), _CONTEXT
        with np.errstate(all="ignore"):
            waves = 2 * np.pi * theta ** (np.arange(0, head_dim, 2) / head_dim)
            share = (context / waves - _LOW) / (_HIGH - _LOW)
            expected = 1 / (np.clip(1 - share, 0, 1) / factor + np.clip(share, 0, 1))
        if np.isfinite(found).all() and np.allclose(found, expected, rtol=1e-5):
            return {
                "rope_type": "llama3",
                "factor": factor,
                "low_freq_factor": _LOW,
                "high_freq_factor": _HIGH,
                "original_max_position_embeddings": context,
            }
    raise ModelFilesError(
        f"{source.path}: expected {ANGLES} to be as in Llama 3.1, found something else; {OTHERWISE}"
    )
