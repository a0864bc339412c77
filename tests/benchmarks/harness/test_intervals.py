"""Intervals by drawing texts again."""

import numpy as np
import pytest

from benchmarks._harness.intervals import mean, median, ratio


def test_ratio_is_that_of_the_sums():
    found = ratio([1, 0, 1], [2, 2, 4])
    assert found.value == pytest.approx(2 / 8)
    assert found.low <= found.value <= found.high


def test_ratio_of_nothing_is_none():
    assert ratio([], []) is None
    assert ratio([0, 0], [0, 0]) is None


def test_median_is_not_moved_by_a_few_outliers():
    found = median([1.0, 2.0, 3.0] * 8 + [900.0])
    assert found.value == 2
    assert 1 <= found.low <= 2 <= found.high <= 3
    assert median([]) is None


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(1)
    found = [mean(rng.normal(1, 1, size=60)) for _ in range(400)]
    # 380 of 400 are expected; bootstrap intervals of 60 values are a little short.
    assert 362 <= sum(one.low <= 1 <= one.high for one in found) <= 392
