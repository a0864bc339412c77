"""Nothing is dropped but what is no text, and all ways to spell a text are found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pools import pool
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore.disambiguation import PromptContext, Search
from ticore.errors import ExtractionError

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", " "])
EVERY = pool(1, 2, 3, 4, 5, 6, 7)


def context(tokenizer, prompt="", view="whole"):
    return PromptContext(tokenizer, prompt, tokenizer.encode(prompt), view)


def test_all_candidates_are_choices():
    session = Search(context(TOY, "c")).start()
    for token in (1, 2, 3, 3):
        choices = session.refine(EVERY, iter([]))
        assert choices.ids.tolist() == EVERY.ids.tolist()
        session.push(token)
    assert session.text() == "cababab"
    assert session.may_end()


@given(st.text("abc ", max_size=8), st.sampled_from(["", "c", "ab"]))
def test_following_finds_every_way_to_spell_a_text(text, prompt):
    spellings = Search(context(TOY, prompt)).spellings(prompt + text)

    def ways(place):
        if place == spellings.size:
            return [()]
        choices = spellings.session(place).refine(EVERY, iter([]))
        return [
            (int(choices.ids[index]), *rest)
            for index, end in spellings.following(choices, place)
            for rest in ways(end)
        ]

    assert sorted(ways(0)) == sorted(all_ways(text))


def all_ways(text):
    tokens = [(i, TOY.token_bytes(i).decode()) for i in EVERY.ids.tolist()]
    if not text:
        return [()]
    return [
        (i, *rest) for i, s in tokens if text.startswith(s) for rest in all_ways(text[len(s) :])
    ]


@pytest.mark.parametrize("name", sorted(TRAINED))
@pytest.mark.parametrize(
    ("prompt", "view"), [("", "whole"), ("one", "whole"), ("one", "continuation")]
)
def test_usual_is_what_the_tokenizer_finds(name, prompt, view):
    tokenizer = TRAINED[name]()
    text = ("one" if view == "whole" else "") + " two 日本 naïve"
    if tokenizer.decode(tokenizer.encode(text)) != text:
        pytest.skip("this tokenizer does not give the text back")
    usual = Search(context(tokenizer, prompt, view)).spellings(text).usual
    found = tokenizer.encode(text)
    before = len(tokenizer.encode(prompt)) if view == "whole" else 0
    # A lone space that begins the text spells nothing.
    assert list(usual.values()) in (found[before:], found[before + 1 :])
    assert 0 in usual


@pytest.mark.parametrize("name", sorted(TRAINED))
def test_following_leads_along_the_tokens_that_the_tokenizer_finds(name):
    """The first one spells the text without the space that the tokenizer puts before it."""
    tokenizer, text = TRAINED[name](), "the old fox"
    ids = tokenizer.encode(text)
    if tokenizer.decode(ids) != text:
        pytest.skip("this tokenizer does not give the text back")
    spellings, place = Search(context(tokenizer, view="continuation")).spellings(text), 0
    for token in ids:
        session = spellings.session(place)
        if not session.spelling.tokens[token]:
            continue  # a lone space that begins the text
        [(_, place)] = spellings.following(session.refine(pool(token), iter([])), place)
    assert place == spellings.size


def test_a_text_after_another_prompt_is_refused():
    with pytest.raises(ExtractionError, match="prompt"):
        Search(context(TOY, "c")).spellings("ab")
