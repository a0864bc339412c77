"""Probabilities from logits, on arrays of any library and on their own device."""

from __future__ import annotations

from array_api_compat import array_namespace

from ._base import Array


def probabilities(logits: Array) -> Array:
    """The softmax of logits float[..., n]: float[..., n], whose rows sum up to 1.

    A row is NaN throughout if it has NaN or infinity, or nothing but -inf.
    """
    xp = array_namespace(logits)
    raised = xp.exp(logits - xp.max(logits, axis=-1, keepdims=True))
    return raised / xp.sum(raised, axis=-1, keepdims=True)
