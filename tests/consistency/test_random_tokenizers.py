"""A Verifier gives the oracle's answers for random tokenizers, by whatever method it reaches."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.random_bpe import MODES
from tests.support.random_tokenizers import FAMILIES, texts_of
from tests.support.verifier_answers import check_answers

modes = st.sampled_from(("prefix", *MODES))
choices = st.lists(st.integers(0, 99), max_size=4)

NO_TABLES = ()


@pytest.mark.parametrize(
    "examples", [pytest.param(25, id="few"), pytest.param(500, id="many", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_verifier_equals_the_oracle_for_random_tokenizers(family, examples):
    methods = Counter()

    @settings(max_examples=examples)
    @given(st.data())
    def check(data):
        model = data.draw(FAMILIES[family], "tokenizer")
        text = data.draw(texts_of(model), "text")
        methods[check_answers(model, data.draw(modes), text, data.draw(choices))] += 1

    check()
    assert methods["table"] or family in NO_TABLES, methods
