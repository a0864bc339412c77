"""Each run takes what it should of tests with many parameters."""

import pytest

from tests.support import slow
from tests.support.slow import examples, few_or_many, pairs_of, some_pairs


@pytest.mark.parametrize("one_in", [1, 2, 3])
def test_each_value_is_in_some_pair(monkeypatch, one_in):
    monkeypatch.setattr(slow, "THOROUGH", False)
    pairs = some_pairs("abcdefg", range(4), one_in=one_in)
    assert len(pairs) <= 28 / one_in + 3
    assert {first for first, _ in pairs} == {*"abcdefg"}
    assert {second for _, second in pairs} == {*range(4)}
    assert pairs_of("ab", pairs) == [pair for pair in pairs if pair[0] in "ab"]


def test_a_thorough_run_takes_all_pairs_and_more_examples(monkeypatch):
    monkeypatch.setattr(slow, "THOROUGH", True)
    assert len(some_pairs("abcdefg", range(4), one_in=3)) == 28
    assert examples(3, thorough=100) == 100
    monkeypatch.setattr(slow, "THOROUGH", False)
    assert examples(3, thorough=100) == 3


@pytest.mark.parametrize("count", few_or_many(2, 5))
def test_only_the_fast_run_takes_few(request, count):
    fast = "not slow" in request.config.option.markexpr
    assert count == (2 if fast else 5)
