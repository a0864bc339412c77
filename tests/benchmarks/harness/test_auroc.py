"""The area under the ROC curve, its intervals and its error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks._harness.auroc import auroc, auroc_interval, auroc_with_error


@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_auroc_is_the_share_of_pairs_in_which_the_first_is_larger(high, low):
    pairs = [(p > n) + (p == n) / 2 for p in high for n in low]
    assert auroc(np.array(high), np.array(low)) == pytest.approx(np.mean(pairs))


def test_auroc_interval_contains_the_area():
    rng = np.random.default_rng(1)
    high, low = rng.normal(1, 1, 100), rng.normal(0, 1, 100)
    least, most = auroc_interval(high, low)
    assert least < auroc(high, low) < most
    assert 0.05 < most - least < 0.25  # Hanley and McNeil: about 4 standard errors of 0.034
    assert auroc_interval(high + 100, low) == [1, 1]


def test_the_area_is_that_of_all_pairs_and_its_error_that_of_drawing_again():
    rng = np.random.default_rng(1)
    high, low = rng.integers(2, 9, 300).astype(float), rng.integers(0, 8, 200).astype(float)
    area, error = auroc_with_error(high, low)
    pairs = (high[:, None] > low) + (high[:, None] == low) / 2
    assert area.value == pytest.approx(pairs.mean()) == auroc(high, low)
    drawn = [auroc(rng.choice(high, 300), rng.choice(low, 200)) for _ in range(2000)]
    assert error == pytest.approx(np.std(drawn), rel=0.1)
    assert area.low < area.value < area.high
