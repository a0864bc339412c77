"""BPE that reads the whole text as one run of characters, against the definition."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.consistency.random_bpe import MODES, character_level, check_walk, with_text

choices = st.lists(st.integers(0, 99), max_size=6)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=3 * settings.default.max_examples)
@given(case=with_text(character_level()), choices=choices)
def test_random_tokenizers(mode, case, choices):
    check_walk(*case, mode, choices)
