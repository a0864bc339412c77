"""The measure of what disambiguation costs a step."""

import math

import numpy as np
import pytest

from ticore.candidates import Pool
from ticore.steganography._step import _divergence

LEVELS = np.array([40, 1, 1, 0]) << 10
BEFORE = Pool(np.array([7, 5, 6, 9]), LEVELS)


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ([7, 5, 6, 9], 0.0),
        ([7], math.log2(1 + 2 * math.exp(-39) + math.exp(-40))),
        ([5, 6], math.log2((math.exp(39) + 2 + math.exp(-1)) / 2)),
        ([3], 0.0),  # the paper's fallback, a token from outside
    ],
)
def test_divergence_is_that_of_what_is_kept(kept, expected):
    which = np.isin(BEFORE.ids, kept)
    after = BEFORE.keep(which) if which.any() else Pool(np.array(kept), np.array([0]))
    assert _divergence(BEFORE, after) == pytest.approx(expected, abs=1e-12)
