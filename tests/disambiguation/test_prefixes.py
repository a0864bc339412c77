"""The forest of strings that begin one another, against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.disambiguation._prefixes import PrefixForest

strings = st.lists(st.text("ab", max_size=5) | st.text("aé", max_size=3), min_size=1, max_size=30)


@st.composite
def parts(draw):
    """The strings of a vocabulary and some of its tokens."""
    spelled = [string.encode() for string in draw(strings)]
    ids = draw(st.lists(st.integers(0, len(spelled) - 1), min_size=1, unique=True))
    return spelled, np.array(ids)


def in_order(spelled, ids):
    """The distinct strings of some tokens and the first token of each."""
    distinct = sorted({spelled[i] for i in ids})
    return distinct, [next(n for n, i in enumerate(ids) if spelled[i] == s) for s in distinct]


@given(strings)
def test_forest_has_each_string_before_those_that_it_begins(texts):
    spelled = [text.encode() for text in texts]
    forest, (ordered, _) = PrefixForest(spelled), in_order(spelled, range(len(spelled)))
    assert [ordered[rank] for rank in forest.rank] == spelled
    for rank, string in enumerate(ordered):
        begun = [n for n, other in enumerate(ordered) if other.startswith(string)]
        assert begun == list(range(rank, forest.end[rank]))


@given(parts())
def test_among_gives_the_part_of_the_forest_that_a_pool_needs(part):
    spelled, ids = part
    order, (distinct, places) = PrefixForest(spelled).among(ids), in_order(spelled, ids)
    begun = [[n for n, b in enumerate(distinct) if b.startswith(a)] for a in distinct]
    assert order.place.tolist() == places
    assert order.stop.tolist() == [row[-1] + 1 for row in begun]
    assert order.leaves.tolist() == [len(row) == 1 for row in begun]

    around = [sum(n in row for row in begun) - 1 for n in range(len(distinct))]
    levels = [[n for n, many in enumerate(around) if many == level] for level in range(max(around))]
    last = [n for n, many in enumerate(around) if many == max(around)]
    assert [level.tolist() for level in order.levels()] == [*levels, last]


@given(parts(), st.data())
def test_outermost_gives_strings_that_no_other_begins(part, data):
    spelled, ids = part
    order, (distinct, _) = PrefixForest(spelled).among(ids), in_order(spelled, ids)
    flags = st.lists(st.booleans(), min_size=len(distinct), max_size=len(distinct))
    which = np.array(data.draw(flags))
    some = [string for string, chosen in zip(distinct, which, strict=True) if chosen]
    assert order.outermost(which).tolist() == [
        chosen and not any(s != string and string.startswith(s) for s in some)
        for string, chosen in zip(distinct, which, strict=True)
    ]
    assert np.flatnonzero(order.mask(which)).tolist() == sorted(order.place[which])


@given(parts())
def test_trees_hold_what_one_string_begins(part):
    spelled, ids = part
    shortest = [min((spelled[j] for j in ids if s.startswith(spelled[j])), key=len)
                for s in (spelled[i] for i in ids)]  # fmt: skip
    roots = sorted(set(shortest))
    assert PrefixForest(spelled).trees(ids).tolist() == [roots.index(root) for root in shortest]


@given(parts(), st.text("abé", max_size=12))
def test_beginning_gives_all_tokens_that_begin_a_text(part, text):
    spelled, ids = part
    forest, data = PrefixForest(spelled), text.encode()
    found = [n for n, i in enumerate(ids) if data.startswith(spelled[i])]
    assert forest.beginning(ids, data).tolist() == found
    assert forest.beginning(ids, data[: forest.longest]).tolist() == found


@pytest.mark.parametrize("depth", [1, 1000])
def test_forest_takes_strings_that_are_nested_deeply(depth):
    forest = PrefixForest([b"-" * n for n in range(1, depth + 1)])
    assert [level.tolist() for level in forest.among(np.arange(depth)).levels()] == [
        [n] for n in range(depth)
    ]
