"""What is kept, and what is made again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.consistency.recent import Recent


@given(keys=st.lists(st.integers(0, 5)), size=st.integers(1, 4))
def test_the_values_used_last_are_kept(keys, size):
    recent, kept = Recent(size), []
    for key in keys:
        made = []
        assert recent.get(key, lambda key=key, made=made: made.append(key) or -key) == -key
        assert made == ([] if key in kept else [key])
        kept = [key, *(other for other in kept if other != key)][:size]


def test_a_value_that_is_nothing_is_a_value():
    recent = Recent(1)
    recent.get("key", lambda: None)
    assert recent.get("key", lambda: 1) is None


def test_what_could_not_be_made_is_not_kept():
    recent = Recent(1)
    recent.get("old", lambda: 1)
    with pytest.raises(ZeroDivisionError):
        recent.get("new", lambda: 1 // 0)
    assert recent.get("old", lambda: 2) == 1
    assert recent.get("new", lambda: 3) == 3
