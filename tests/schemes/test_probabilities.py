"""Probabilities sum up to 1 in each row, in every array library."""

import numpy as np
import pytest

from ticore.schemes._probabilities import probabilities

LOGITS = np.log([[0.1, 0.4, 0.2, 0.3], [0.25, 0.25, 0.25, 0.25]]).astype(np.float32)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_probabilities_of_rows_are_those_of_each_row(library):
    xp = pytest.importorskip(library)
    logits = LOGITS + np.array([[300.0], [-300.0]], np.float32)  # `exp` alone would give inf and 0
    found = np.asarray(probabilities(xp.asarray(logits)))
    np.testing.assert_allclose(found, np.exp(LOGITS), rtol=1e-4)
    for row, of_row in zip(logits, found, strict=True):
        np.testing.assert_allclose(np.asarray(probabilities(xp.asarray(row))), of_row, rtol=1e-6)


def test_a_token_that_was_dropped_has_probability_0():
    assert probabilities(np.array([0.0, -np.inf, 0.0])).tolist() == [0.5, 0.0, 0.5]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("logits", [[0.0, np.nan], [0.0, np.inf], [-np.inf, -np.inf]])
def test_a_row_without_probabilities_is_nan_throughout(logits):
    assert np.isnan(probabilities(np.array(logits))).all()
