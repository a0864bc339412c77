"""What samples are taken with: keys, random numbers, and likelihoods under the model."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ticore.evaluation._metrics import log_likelihood
from ticore.interfaces import LanguageModel


def sample_key(seed: int, index: int) -> bytes:
    """The key of a sample, 32 bytes. Each sample has its own, so no result is about one key."""
    return hashlib.blake2b(f"key {seed} {index}".encode(), digest_size=32).digest()


def sample_random(seed: int, index: int, purpose: str = "") -> random.Random:
    """The random numbers of a sample; each `purpose` has others."""
    return random.Random(f"{seed} {index} {purpose}".rstrip())


def drawn(weights: npt.NDArray[np.int64], draw: random.Random) -> int:
    """An index by its weight, exactly.

    Args:
        weights: int64[n], 0 or more, with a positive sum.
        draw: the random numbers.
    """
    ends = np.cumsum(weights)
    return int(np.searchsorted(ends, draw.randrange(int(ends[-1])), side="right"))


def negative_log_likelihood(
    model: LanguageModel, prompt_ids: Sequence[int], ids: Sequence[int]
) -> float | None:
    """The negative log-likelihood of `ids` after the prompt, in nats, at temperature 1.

    Returns:
        None where the model's context is too short for them.
    """
    found = log_likelihood(model, prompt_ids, ids)
    return None if found is None else -found
