"""What windows say under a key."""

from __future__ import annotations

import pytest
from scipy.stats import kstest

from ticore.steganography._edit_code.windows import KeyedWindows

KEY = bytes(range(32))


def said(ids: list[int], size: int = 3, key: bytes = KEY) -> list[object]:
    windows = KeyedWindows(key, size)
    return [windows.before(ids[:count]) for count in range(len(ids))]


def test_window_says_the_same_wherever_it_stands() -> None:
    assert said([1, 2, 3, 4, 5])[4] == said([9, 9, 9, 8, 8, 2, 3, 4, 5])[8]


def test_window_that_is_too_short_or_stood_before_says_nothing() -> None:
    found = said([1, 2, 3, 1, 2, 3, 4])
    assert [each is None for each in found] == [True, True, True, False, False, False, True]


@pytest.mark.parametrize(("size", "key"), [(3, bytes(32)), (2, KEY)])
def test_another_key_or_size_says_something_else(size: int, key: bytes) -> None:
    assert said([1, 2, 3, 4])[3] != said([1, 2, 3, 4], size, key)[3]


def test_tokens_are_told_apart() -> None:
    """Ids of several bytes are not run together."""
    assert said([1, 2, 258, 0])[3] != said([1, 513, 2, 0])[3]


def test_masks_are_uniform() -> None:
    windows = KeyedWindows(KEY, 1)
    draws = [windows.before([token]) for token in range(2000)]
    masks = [draw.mask / 2**32 for draw in draws if draw]
    places = [draw.place / 2**64 for draw in draws if draw]
    assert kstest(masks, "uniform").pvalue > 1e-3
    assert kstest(places, "uniform").pvalue > 1e-3
