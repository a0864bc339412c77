"""BPE that reads the whole text as one run of characters, against the definition."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.consistency.random_bpe import (
    MODES,
    character_level,
    check_walk,
    engine_of,
    few_characters,
    with_text,
)

choices = st.lists(st.integers(0, 99), max_size=6)


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=3 * settings.default.max_examples)
@given(case=with_text(character_level()), choices=choices)
def test_random_tokenizers(mode, case, choices):
    check_walk(*case, mode, choices)


@given(case=with_text(character_level()))
def test_no_text_is_read_as_neighbours_that_are_never_adjacent(case):
    model, text = case
    tokenizer = model.open()
    with few_characters():
        engine, _ = engine_of(tokenizer, "prefix", "mask")
    pieces = [i for i in range(tokenizer.vocab_size) if i not in tokenizer.special_ids]
    texts = [text, *(tokenizer.decode([a, b]) for a in pieces for b in pieces[:40])]
    for some in texts:
        for left, right in pairwise(tokenizer.encode(some)):
            assert not engine.never_adjacent(left, right), (some, left, right)
