"""The measure of what is dropped."""

import math

import numpy as np
import pytest

from ticore.candidates import Pool
from ticore.steganography._divergence import divergence

BEFORE = Pool(np.array([7, 5, 6, 9]), np.array([40, 1, 1, 0]) << 10)


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ([7, 5, 6, 9], 0.0),
        ([7], math.log2(1 + 2 * math.exp(-39) + math.exp(-40))),
        ([5, 6], math.log2((math.exp(39) + 2 + math.exp(-1)) / 2)),
    ],
)
def test_divergence_is_that_of_what_is_kept(kept, expected):
    after = BEFORE.keep(np.isin(BEFORE.ids, kept))
    assert divergence(BEFORE, after) == pytest.approx(expected, abs=1e-12)
