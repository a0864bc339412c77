"""What the benchmark of batches measures."""

import pytest

from benchmarks.backends import batches
from benchmarks.backends.batches import measure


def test_texts_at_once_and_one_by_one(monkeypatch):
    (found,) = measure(["tiny-en"], rows=14, tokens=3)
    assert (found.place, found.dtype, found.rows, found.tokens) == ("tiny-en", "float32", 14, 3)
    assert found.gain == pytest.approx(found.together / found.apart)
    assert 0 < found.reading < 14 * 3 / found.together


def test_tokens_a_second_are_counted_in_tokens(monkeypatch):
    """With a clock that goes by one second each time it is looked at."""
    seconds = iter(range(100_000))
    monkeypatch.setattr(batches.time, "perf_counter", lambda: float(next(seconds)))
    (found,) = measure(["tiny-en"], rows=2, tokens=3)
    # A Writing looks when it begins and when it ends.
    assert found.together == 2 * 3 / 5
    assert found.apart == 2 * 3 / 5
