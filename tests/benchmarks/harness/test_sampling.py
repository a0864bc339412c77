"""What samples are taken with."""

from random import Random

import numpy as np

from benchmarks._harness.sampling import drawn, sample_random


def test_indices_are_drawn_by_their_weights() -> None:
    draw = Random(1)
    weights = np.array([0, 3, 0, 1])
    counts = np.bincount([drawn(weights, draw) for _ in range(4000)], minlength=4)
    assert counts[[0, 2]].tolist() == [0, 0]
    assert abs(counts[1] - 3000) < 110  # four deviations


def test_purposes_have_other_random_numbers() -> None:
    assert sample_random(1, 2).random() == sample_random(1, 2).random()
    assert sample_random(1, 2).random() != sample_random(1, 2, "entropy").random()
