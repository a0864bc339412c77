"""An Embedding: its text as a str, and what a str could do before."""

import copy
import pickle

import pytest

from ticore.steganography import Embedding

EMBEDDING = Embedding(
    text="One day", ids=(1, 2, 3), bits=8, token_count=2, kl_filter=0.25, seconds=1.0
)


def test_embedding_gives_its_text_when_taken_as_a_str():
    assert str(EMBEDDING) == f"{EMBEDDING}" == EMBEDDING.text == "One day"
    assert f"{EMBEDDING:>9}" == "  One day"


def test_embedding_equals_its_text_and_one_of_the_same_text():
    other = Embedding(text="One day", ids=(4,), bits=1, token_count=1, kl_filter=0)
    assert EMBEDDING == "One day"
    assert other == EMBEDDING
    assert hash(EMBEDDING) == hash(other) == hash("One day")
    assert EMBEDDING != "Two days"
    assert EMBEDDING != 3


def test_bits_per_token_is_the_quotient_or_zero():
    assert EMBEDDING.bits_per_token == 4
    assert Embedding("", (), 0, 0, 0.0).bits_per_token == 0


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))]
)
def test_embedding_comes_back_when_copied_or_pickled(again):
    assert vars(again(EMBEDDING)) == vars(EMBEDDING)


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (lambda it: it.upper(), "ONE DAY"),
        (lambda it: it.encode(), b"One day"),
        (len, 7),
        (lambda it: it[:3], "One"),
        (lambda it: "day" in it, True),
        (lambda it: it + "!", "One day!"),
        (lambda it: "> " + it, "> One day"),
        (lambda it: next(iter(it)), "O"),
        (lambda it: it.tokens, 2),
    ],
)
def test_embedding_does_what_a_str_did_with_a_warning(use, expected):
    with pytest.warns(DeprecationWarning, match=r"deprecated; use Embedding\.t"):
        assert use(EMBEDDING) == expected


def test_embedding_has_no_attribute_that_neither_it_nor_a_str_has():
    with pytest.raises(AttributeError, match="'Embedding' object has no attribute 'txt'"):
        EMBEDDING.txt  # noqa: B018  # the access itself is what fails
