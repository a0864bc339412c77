"""Where two long sequences differ is said in short."""

import pytest

from ticore.testing._same import require_same


def test_require_same_accepts_equal_sequences():
    for equal in ([], [1, 2], b"abc", "abc"):
        require_same(equal, equal, "x")


@pytest.mark.parametrize(
    ("found", "expected", "message"),
    [
        ([1, 2, 3], [1, 2, 4], r"x: from item 2 of 3 on expected \[4\], found \[3\]$"),
        ([1, 2], [1, 2, 4], r"x: from item 2 of 3 on expected \[4\], found \[\]$"),
        ([1, 2, 4], [1, 2], r"x: from item 2 of 2 on expected \[\], found \[4\]$"),
        (b"ab", b"ac", "x: from item 1 of 2 on expected b'c', found b'b'$"),
    ],
)
def test_require_same_shows_the_first_difference(found, expected, message):
    with pytest.raises(AssertionError, match=message):
        require_same(found, expected, "x")


def test_require_same_shows_little_of_long_sequences():
    with pytest.raises(AssertionError) as said:
        require_same([10**9] * 9_000, list(range(9_000)), "numbers")
    assert len(str(said.value)) < 300
