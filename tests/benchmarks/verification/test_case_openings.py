"""The lists that cases start with."""

import random
import unicodedata
from itertools import groupby

import pytest

from benchmarks.verification.case_openings import OPENINGS
from tests.support.tokenizers import FRAGMENTS, TRAINED


@pytest.mark.parametrize("opening", OPENINGS)
def test_openings_give_lists_that_are_what_their_names_say(opening):
    """Each gives other ids than ordinary text does."""
    tokenizer, draw = TRAINED["hf-gpt2"](), random.Random(opening)
    found = [OPENINGS[opening](draw, tokenizer, FRAGMENTS) for _ in range(100)]
    lists = {tuple(ids) for ids in found}
    assert len(lists) > 20
    if opening != "snippets":  # one of which is the text of a special token
        has_special = [not tokenizer.special_ids.isdisjoint(ids) for ids in found]
        assert any(has_special) == (opening in ("chat", "added"))
    decoded = [tokenizer.decode(ids) for ids in found]
    longest = max(len(list(same)) for text in decoded for _, same in groupby(text))
    assert (longest >= 255) == (opening == "run")
    marked = [sum(map(bool, map(unicodedata.combining, text))) for text in decoded]
    assert (max(marked) >= 100) == (opening in ("marks", "run"))
