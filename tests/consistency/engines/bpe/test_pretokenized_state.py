"""Lists that are cut, or of which the middle is left out."""

import pytest

from ticore.consistency._engines.bpe.pretokenized_state import UnsettledList, start_of_last
from ticore.consistency._engines.chain import Chain


@pytest.fixture
def tokens():
    """The tokens "ab", "c", "de" and "f" with the ids 10 to 13; all but "c" and "de" unmerged."""
    chain = Chain().then(10).then(11).then(12).then(13)
    return UnsettledList(
        tokens=chain,
        text="abcdef",
        ends=(2, 3, 5, 6),
        numbers=(1, 2, 3, 4),
        unmerged=(True, False, True),
        whole_part_only=(False, False, True, False),
        replaced=((0, 3), (3, 6)),
        unfinished=b"",
    )


def test_since_keeps_what_stands_after_the_cut(tokens):
    after = tokens.since(3)
    assert (after.tokens.ids(), after.text) == ((12, 13), "def")
    assert (after.ends, after.numbers) == ((2, 3), (3, 4))
    assert (after.unmerged, after.whole_part_only) == ((True,), (True, False))
    assert after.replaced == ((0, 3),)


def test_without_drops_the_text_and_the_tokens_that_end_in_it(tokens):
    shorter = tokens.without(2, 4)
    assert (shorter.tokens.ids(), shorter.text) == ((10, 11, 12, 13), "abef")
    assert (shorter.ends, shorter.numbers) == ((3, 4), (3, 4))
    assert (shorter.unmerged, shorter.whole_part_only) == ((True,), (True, False))
    assert shorter.replaced == ()


def test_start_of_last_is_where_the_last_tokens_begin(tokens):
    chain = tokens.tokens
    assert [start_of_last(tokens, chain, count) for count in (1, 2, 3, 4)] == [5, 3, 2, 0]


def test_start_of_last_is_minus_one_when_that_place_was_left_out(tokens):
    shorter = tokens.without(2, 4)
    assert [start_of_last(shorter, shorter.tokens, count) for count in (1, 2, 3)] == [3, -1, -1]
