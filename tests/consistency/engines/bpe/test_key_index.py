"""Many keys among others."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ticore.consistency._engines.bpe import key_index
from ticore.consistency._engines.bpe.key_index import KeyIndex

# Multiples of a high power of two share few slots.
keys = st.integers(0, 2**64 - 2) | st.integers(0, 40).map(lambda n: n << 58)


@given(known=st.lists(keys, unique=True, max_size=60), asked=st.lists(keys))
def test_key_index_finds_the_keys_and_no_other_number(known, asked):
    asked = [*asked, *known, 2**64 - 1]
    found = KeyIndex(np.array(known, dtype=np.uint64)).find(np.array(asked, dtype=np.uint64))
    assert found.dtype == np.int32
    assert found.tolist() == [known.index(key) if key in known else -1 for key in asked]


def test_key_index_finds_keys_that_share_one_slot(monkeypatch):
    monkeypatch.setattr(key_index, "_MULTIPLIER", np.uint64(0))
    known = np.array([7, 1, 5, 3], dtype=np.uint64)
    assert KeyIndex(known).find(np.arange(9, dtype=np.uint64)).tolist() == [
        -1, 1, -1, 3, -1, 2, -1, 0, -1
    ]  # fmt: skip
