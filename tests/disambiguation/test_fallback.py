"""What is kept, and what stands in where nothing is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pools import pool
from ticore.disambiguation._fallback import keep_admitted
from ticore.errors import CapacityError

orders = st.permutations(range(8))


def admitting(good):
    return lambda ids: np.isin(ids, list(good))


@given(order=orders, size=st.integers(0, 8), good=st.sets(st.integers(0, 8)))
def test_keep_admitted_gives_the_first_outside_when_none_is_admitted(order, size, good):
    inside, outside = order[:size], order[size:]
    rest = iter([pool(*outside[:2]), pool(*outside[2:])])
    admitted = [i for i in inside if i in good] or [i for i in outside if i in good][:1]
    if admitted:
        assert keep_admitted(pool(*inside), rest, admitting(good)).ids.tolist() == admitted
    else:
        with pytest.raises(CapacityError, match="no token of the vocabulary can be read back"):
            keep_admitted(pool(*inside), rest, admitting(good))


def test_keep_admitted_does_not_look_outside_when_some_are_admitted():
    def never():
        pytest.fail("the pool is not empty")
        yield

    assert keep_admitted(pool(1, 2), never(), admitting({2})).ids.tolist() == [2]


def test_keep_admitted_keeps_levels_with_their_tokens():
    kept = keep_admitted(pool(5, 3, 4), iter([]), admitting({3, 4}))
    assert kept.rounded_logits.tolist() == pool(5, 3, 4).rounded_logits[1:].tolist()
