"""Texts that cannot be read give an ExtractionError, whatever reads them."""

from __future__ import annotations

import pytest

from tests.support.toy_models import ToyTokenizer
from ticore.disambiguation import DISAMBIGUATIONS, PromptContext, Search
from ticore.errors import ExtractionError, SettingsError


class Refuses(ToyTokenizer):
    """It has no token for a z, and says so."""

    def encode(self, text: str) -> list[int]:
        if "z" in text:
            raise SettingsError("text: expected one without z")
        ids: list[int] = super().encode(text)
        return ids


TOKENIZER = Refuses(["", "a", "b", "ab", "ba", "aab", "c"])
REFUSED = "the text cannot be read: text: expected one without z"


@pytest.mark.parametrize("view", ["whole", "continuation"])
@pytest.mark.parametrize("name", ["none", "stepwise"])
def test_a_text_that_the_tokenizer_refuses_is_an_extraction_error(name: str, view: str) -> None:
    context = PromptContext(TOKENIZER, "c", TOKENIZER.encode("c"), view)
    with pytest.raises(ExtractionError, match=REFUSED):
        DISAMBIGUATIONS[name].make(context).read("cabz")
    with pytest.raises(ExtractionError, match=REFUSED):
        _ = Search(context).spellings("cabz").usual
