"""SynthID's Bayesian score: how much likelier a token's bits are in marked text.

In each round of the tournament two different tokens compete with a probability that depends on the
bits of the rounds before, by a logistic regression that was trained. A bit is then 1 with
probability 3/4; where one token meets itself, and in text without a watermark, with probability
1/2. The score is the logarithm of the ratio of the probabilities of all bits.

Sources: Dathathri et al. 2024 (Nature 634), Supplementary Information; transformers 5,
generation/watermarking.py (`BayesianDetectorModel`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import SettingsError
from .._evidence import Floats

_STATE = "likelihood_model_watermarked."  # of a `BayesianDetectorModel`'s state_dict


class BayesianRatios:
    """The logarithms of the ratios of probabilities under trained weights.

    Args:
        weights: a mapping with `beta` (float[layers]) and `delta` (float[layers, layers], of which
            what is below the diagonal counts); or the `state_dict` of a trained
            `BayesianDetectorModel`. Its `prior` adds the same to all texts and is not used.
        layers: how many keys the writer has.

    Raises:
        SettingsError: something is missing, of another shape, or not finite.
    """

    def __init__(self, weights: Mapping[str, Any], layers: int) -> None:
        self._beta = _weights(weights, "beta", (layers,))
        self._delta = np.tril(_weights(weights, "delta", (layers, layers)), -1)

    def of_bits(self, bits: npt.NDArray[np.int8]) -> Floats:
        """float64[n] for the bits of n tokens, int8[n, layers]."""
        latent = bits @ self._delta.T + self._beta
        different = 1 / (1 + np.exp(-latent))
        ratios: Floats = np.log1p(different * (bits - 0.5)).sum(axis=1)
        return ratios


def _weights(given: object, name: str, shape: tuple[int, ...]) -> Floats:
    if not isinstance(given, Mapping):
        raise SettingsError(
            f"bayesian: expected a mapping with beta and delta, or the state_dict of a trained "
            f"detector, found a {type(given).__name__}; give one of these"
        )
    found = given.get(name, given.get(_STATE + name))
    if found is None:
        raise SettingsError(
            f"bayesian: expected beta and delta, found no {name}; give both of the trained detector"
        )
    try:
        numbers = np.array(found.tolist() if hasattr(found, "tolist") else found, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.array(np.nan)
    if numbers.size != np.prod(shape) or not np.isfinite(numbers).all():
        raise SettingsError(
            f"bayesian: expected {' x '.join(map(str, shape))} finite numbers as {name}, one for "
            f"each of the writer's keys, found another shape or something else; give the trained "
            f"detector's"
        )
    return numbers.reshape(shape)
