"""Many texts read side by side in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import ticore
from tests.schedules import largest_difference
from ticore.errors import PromptError, SettingsError
from ticore.interfaces import BatchModel
from ticore_embedded.batch import EmbeddedRows
from ticore_embedded.network import FIRST_CAPACITY

TOLERANCE = {"float64": 1e-9, "float32": 1e-4}


@pytest.fixture(scope="module")
def model() -> BatchModel:
    model = ticore.load_model("tiny-en")
    assert isinstance(model, BatchModel)
    return model


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_rows_are_read_as_decoders_read_them(dtype: str) -> None:
    model = ticore.load_model("tiny-en", dtype=dtype)
    assert isinstance(model, BatchModel)
    for seed in range(3):
        assert largest_difference(model, seed=seed) <= TOLERANCE[dtype]
    longest = 2 * FIRST_CAPACITY
    assert largest_difference(model, seed=3, rows=4, longest=longest) <= TOLERANCE[dtype]


def test_what_is_rewound_leaves_no_trace(model: BatchModel) -> None:
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


def test_dropped_rows_free_their_memory(model: BatchModel) -> None:
    rows = EmbeddedRows(model.network)
    rows.begin([[1], [1, 5]])
    rows.drop(0)
    assert rows._caches.keys() == {1}


def test_logits_are_read_only(model: BatchModel) -> None:
    batch = model.start_batch([[5], []])
    assert batch is not None
    batch.push({1: 7})
    for row in range(2):
        with pytest.raises(ValueError, match="read-only"):
            batch.logits(row)[0] = 0


def test_what_is_wrong_names_the_row(model: BatchModel) -> None:
    with pytest.raises(PromptError, match="row 1: expected a prompt of at most 2047 tokens"):
        model.start_batch([[5], [5] * 2048])
    with pytest.raises(SettingsError, match="row 0: expected token ids from 0 to 4095"):
        model.start_batch([[4096], [5] * 2048])


def test_no_rows(model: BatchModel) -> None:
    batch = model.start_batch([])
    assert batch is not None
    batch.push({})
