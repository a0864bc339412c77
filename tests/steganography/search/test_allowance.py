"""A search that gets on may go on, and one that does not is given up, however long the text is."""

from hypothesis import given
from hypothesis import strategies as st

from ticore.steganography._search.allowance import Allowance

MOVES = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 5_000)), max_size=30)


def most_passes(allowance):
    """How many passes can be used before nothing is left."""
    used = 0
    while not allowance.used_up:
        allowance.use(1)
        used += 1
    return used


def test_each_token_that_is_reached_first_allows_its_passes():
    allowance = Allowance(10, tokens_per_place=0.5)
    assert most_passes(allowance) > 0
    allowance.reach(40)
    assert most_passes(allowance) == 10 * 20
    for place in (40, 7, 39):
        allowance.reach(place)
        assert allowance.used_up


def test_a_search_that_stays_where_it_is_ends_however_far_it_came():
    passes = []
    for place in (10_000, 1_000_000):
        allowance = Allowance(10, tokens_per_place=0.5)
        allowance.reach(place)
        passes.append(most_passes(allowance))
    assert passes[0] == passes[1] < 10 * 10_000 * 0.5


@given(MOVES)
def test_more_passes_per_token_never_leave_less(moves):
    fewer, more = Allowance(32, 0.3), Allowance(40, 0.3)
    for place, passes in moves:
        for each in (fewer, more):
            each.reach(place)
            each.use(passes)
        assert fewer.used_up or not more.used_up
        if fewer.used_up:
            return
