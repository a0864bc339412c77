"""Byte-level BPE behind a known expression, against the definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.consistency.random_bpe import MODES, byte_level, check_walk, with_text

choices = st.lists(st.integers(0, 99), max_size=6)


@pytest.mark.parametrize("mode", MODES)
@given(case=with_text(byte_level()), choices=choices)
def test_random_tokenizers(mode, case, choices):
    check_walk(*case, mode, choices)
