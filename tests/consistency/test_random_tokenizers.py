"""A Verifier gives the oracle's answers for random tokenizers, by whatever method it reaches."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.random_tokenizers import FAMILIES, MODES, check_answers, texts_of

CHOICES = st.lists(st.integers(0, 99), max_size=4)


@pytest.mark.parametrize(
    "examples", [pytest.param(20, id="few"), pytest.param(400, id="many", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("family", FAMILIES)
def test_verifier_equals_the_oracle_for_random_tokenizers(family, examples):
    reached = Counter()

    @settings(max_examples=examples)
    @given(data=st.data())
    def check(data):
        model = data.draw(FAMILIES[family], label="tokenizer")
        mode = data.draw(st.sampled_from(MODES), label="mode")
        text = data.draw(texts_of(model), label="text")
        choices = data.draw(CHOICES, label="choices")
        reached[check_answers(model, mode, text, choices)] += 1

    check()
    print(family, dict(reached))
