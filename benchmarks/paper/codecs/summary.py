"""Improbable tokens of one model's texts, by codec and precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.paper.low_probability.comparison import compared

from .plan import kind_of

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject


def summarize(texts: Sequence[JsonObject]) -> JsonObject:
    """Found, expected and given.

    Args:
        texts: see `plan.rows`.

    Returns:
        `kinds`: for each codec, number of candidates (k) and weight bits the number of `texts` and
        `tokens`, and of texts that could not be written, `failures`; `whole` and `choices`, see
        `compared`; and for each bound `given`, the mass that the codec gives to improbable tokens,
        by that which the whole model gives to them. None where the model gives them none.
    """
    kinds: dict[tuple[str, int | None, int], list[JsonObject]] = {}
    for text in texts:
        kinds.setdefault(kind_of(text), []).append(text)
    return {"kinds": [_kind(some) for some in kinds.values()]}


def _kind(texts: Sequence[JsonObject]) -> JsonObject:
    written = [text for text in texts if text["text"] is not None]
    found = {name: texts[0][name] for name in ("codec", "k", "weight_bits")}
    found |= {"texts": len(written), "failures": len(texts) - len(written)}
    if not written:
        return found
    whole = compared([text["whole"] for text in written])
    given = np.sum([text["emitted"] for text in written], axis=0).tolist()
    return found | {
        "tokens": sum(text["whole"]["steps"] for text in written),
        "whole": whole,
        "choices": compared([text["choices"] for text in written]),
        "given": [
            mass / each["expected"] if each["expected"] else None
            for mass, each in zip(given, whole, strict=True)
        ],
    }
