"""Shared stretches of two sequences are equal, in order, and found also in long or dull ones."""

from __future__ import annotations

from difflib import SequenceMatcher

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ticore.consistency import _alignment as module
from ticore.consistency._alignment import matches, next_change


def shared(a: list[int], b: list[int]) -> int:
    """How many items are matched, after a look at all matches."""
    at = at_b = 0
    for found in matches(a, b):
        assert found.begin >= at
        assert found.begin_b >= at_b
        assert found.size > 0
        at, at_b = found.begin + found.size, found.begin_b + found.size
        assert a[found.begin : at] == b[found.begin_b : at_b]
    return sum(found.size for found in matches(a, b))


@given(st.data(), st.sampled_from([2, 5, 300]))
def test_short_sequences_are_aligned_as_by_sequence_matcher(data: st.DataObject, most: int) -> None:
    items = st.lists(st.integers(0, most), max_size=60)
    a, b = data.draw(items), data.draw(items)
    expected = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()[:-1]
    assert [tuple(found) for found in matches(a, b)] == [tuple(found) for found in expected]


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=60),
    st.lists(st.tuples(st.integers(0, 999), st.lists(st.integers(900, 999), max_size=9))),
    st.integers(1, 40),
)
@example([0], [], 40)
def test_matches_are_equal_and_in_order_however_few_comparisons_are_made(
    items: list[int], changes: list[tuple[int, list[int]]], times: int
) -> None:
    a = items * times
    b = list(a)
    for place, added in changes:
        b[place % (len(b) + 1) : place % (len(b) + 1) + len(added) // 2] = added
    most, module._MOST_COMPARISONS = module._MOST_COMPARISONS, 100
    try:
        found = shared(a, b)
    finally:
        module._MOST_COMPARISONS = most
    assert found == len(a) or a != b
    assert found > 0 or not set(a) & set(b)


@pytest.mark.parametrize(
    ("a", "b", "least"),
    [
        ([-1, *range(5000), -2], [-3, -4, *range(5000), -5], 5000),
        ([1, 2] + [3, 4, 5] * 4000, [6] + [3, 4, 3, 4, 5] * 2400, 9000),  # two thirds and more
        ([9] + [5, 6] * 9000 + [8], [8] + [6, 6, 5] * 6000 + [9], 11000),
        ([1] * 50000, [1] * 40000, 40000),
        (list(range(9000)), list(range(10000, 19000)), 0),
        (list(range(9000)), [*range(1000), *range(7000, 9000)], 3000),
    ],
)
def test_long_and_dull_sequences_are_aligned(a: list[int], b: list[int], least: int) -> None:
    assert shared(a, b) >= least


def test_a_change_ends_where_both_go_on_alike() -> None:
    assert next_change([1, *range(50, 99)], [2, 3, *range(50, 99)]) == (1, 2)
    assert next_change([1, 2, 3], [1, 2, 3]) is None  # for too few items to be sure
    assert next_change([], [1]) is None
    assert next_change([7, 7, *range(50, 58)], [*range(50, 58)]) == (2, 0)
    assert next_change([*range(9000, 17192), *range(9)], [*range(9)]) is None  # it is too long
    assert next_change([*range(9000, 17191), *range(9)], [*range(9)]) == (8191, 0)
