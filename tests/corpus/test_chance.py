"""Bands count what is at or below each threshold, and what chance gives at most."""

from __future__ import annotations

import numpy as np

from ticore.corpus import Band
from ticore.corpus._chance import THRESHOLDS, BandCounter


def test_bands_count_rows_at_or_below_each_threshold() -> None:
    p_values = np.append(10.0 ** -np.random.default_rng(1).uniform(0, 12, 500), [1e-3, 1e-5, 1.0])
    counter = BandCounter(fpr=0.05)
    counter.see(p_values[:100].tolist())
    counter.see(p_values[100:].tolist())
    bands = counter.bands()
    assert [band.threshold for band in bands] == [0.05, *THRESHOLDS]
    for band in bands:
        assert band.found == (p_values <= band.threshold).sum()
        assert band.by_chance == 503 * band.threshold


def test_share_of_false_finds_is_at_most_all_of_them() -> None:
    assert Band(0.01, 20, 5.0).false_share == 0.25
    assert Band(0.01, 2, 5.0).false_share == 1
    assert Band(0.01, 0, 5.0).false_share is None
