"""Many texts read side by side in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import ticore
from tests.support.batch_schedules import largest_difference
from ticore.interfaces import BatchModel
from ticore.testing import BatchModelContract
from ticore_embedded._batch import EmbeddedBatchedForward
from ticore_embedded._cache import FIRST_CAPACITY

TOLERANCE = {"float64": 1e-9, "float32": 1e-4}


@pytest.fixture(scope="module")
def model() -> BatchModel:
    model = ticore.load_model("tiny-en")
    assert isinstance(model, BatchModel)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_batch_rows_have_the_logits_of_decoders(dtype: str) -> None:
    model = ticore.load_model("tiny-en", dtype=dtype)
    assert isinstance(model, BatchModel)
    for seed in range(3):
        assert largest_difference(model, seed=seed) <= TOLERANCE[dtype]
    longest = 2 * FIRST_CAPACITY
    assert largest_difference(model, seed=3, rows=4, longest=longest) <= TOLERANCE[dtype]


def test_batch_gives_the_same_bits_after_a_rewind(model: BatchModel) -> None:
    """Read beside as many rows, ids give the same bits."""
    one, other = (model.start_batch([[5, 6], [7], [8]]) for _ in range(2))
    assert one is not None
    assert other is not None
    for token in (9, 10, 11):
        one.push({0: token, 1: token + 1, 2: token})
    one.rewind(0, 3)
    one.rewind(1, 2)
    other.push({0: 9, 1: 10, 2: 9})
    other.rewind(0, 1)
    for batch in (one, other):
        batch.drop(2)
        batch.push({0: 12, 1: 13})
    for row in range(2):
        assert np.array_equal(one.logits(row), other.logits(row))


def test_batch_frees_the_memory_of_dropped_rows(model: BatchModel) -> None:
    rows = EmbeddedBatchedForward(model.network)
    rows.begin([[1], [1, 5]])
    rows.drop(0)
    assert rows._caches.keys() == {1}


class TestPromises(BatchModelContract):
    tolerance = 1e-9
