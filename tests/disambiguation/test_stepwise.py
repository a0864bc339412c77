"""Stepwise verification: what it keeps, what it falls back to, how it reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.pools import pool
from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore.consistency._engines.retokenizing import Oracle
from ticore.disambiguation import Choices, PromptContext, Stepwise
from ticore.errors import CapacityError, ExtractionError, OutsidePoolError, SettingsError

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c"])


def stepwise(prompt="", view="whole", method=None):
    return Stepwise(PromptContext(TOY, prompt, TOY.encode(prompt), view), method)


def choices(*ids):
    return Choices.of(pool(*ids))


@given(tokens=st.lists(st.integers(1, 6), max_size=12))
def test_stepwise_keeps_exactly_the_consistent_candidates(tokens):
    session, history = stepwise().start(), []
    everything = pool(6, 5, 4, 3, 2, 1)
    for token in tokens:
        kept = session.refine(everything, iter([])).ids.tolist()
        expected = [t for t in (6, 5, 4, 3, 2, 1) if Oracle(TOY).is_consistent([*history, t])]
        assert kept == expected
        if token in kept:
            session.push(token)
            history.append(token)
    assert session.text() == TOY.decode(history)


def test_stepwise_falls_back_to_the_most_probable_consistent_token():
    session = stepwise("a").start()
    outside = iter([pool(4), pool(2, 6, 3)])
    assert session.refine(pool(2), outside).ids.tolist() == [6]


def test_stepwise_raises_when_no_token_is_consistent():
    session = stepwise("a").start()
    with pytest.raises(CapacityError, match="no token of the vocabulary"):
        session.refine(pool(2), iter([pool(2)]))


@pytest.mark.parametrize(("view", "expected"), [("whole", [6, 1]), ("continuation", [1, 6, 1])])
def test_stepwise_reads_the_tokens_after_the_prompt(view, expected):
    reader = stepwise("a", view).read("aca")
    found = []
    while not reader.exhausted:
        index = reader.locate(choices(6, 1))
        found.append([6, 1][index])
    assert found == expected


def test_stepwise_raises_when_a_token_is_outside_the_pool():
    reader = stepwise().read("ca")
    assert reader.locate(choices(1, 6)) == 1
    with pytest.raises(OutsidePoolError, match="token 2 of the text"):
        reader.locate(choices(6))


def test_stepwise_raises_when_the_prompt_differs():
    with pytest.raises(ExtractionError, match="begins with the prompt 'c', found 'aca'"):
        stepwise("c").read("aca")


def test_stepwise_raises_when_the_prompt_reads_differently():
    with pytest.raises(ExtractionError, match="end of the prompt reads as other tokens"):
        stepwise("a").read("ab")


@pytest.mark.parametrize("view", ["whole", "continuation"])
def test_stepwise_raises_when_the_text_is_not_unicode(view):
    with pytest.raises(ExtractionError, match=r"the lone surrogate U\+D800 at character 1"):
        stepwise("a", view).read("a\ud800")


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "kept"), [("prefix", 1), ("open", 2), ("viable", 2)])
def test_stepwise_verifies_in_the_mode_of_the_context(mode, kept):
    """A character that no token has is written in several, and is unfinished in between."""
    tokenizer = TRAINED["hf-gpt2"]()
    first, letter = tokenizer.encode("\u1000")[0], tokenizer.encode("a")[0]
    session = Stepwise(PromptContext(tokenizer, "", [], mode=mode)).start()
    assert len(session.refine(pool(letter, first), iter([])).ids) == kept
    session.push(first)
    assert not session.may_end()


def test_stepwise_refuses_a_method_that_is_not_exact():
    with pytest.raises(SettingsError, match="the method 'suffix' is not exact"):
        stepwise(method="tail")
