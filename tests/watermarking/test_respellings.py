"""Respellings: the same bytes in other tokens; all there are of their kind."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from tests.support.toy_models import ToyTokenizer
from ticore.watermarking._respellings import Respeller, Respelling, respelled

TOY = ToyTokenizer(["a", "b", "ab", "ba", "aa", "aba", "bab", "abab"])
RESPELLER = Respeller(TOY)


def cuts(tokens):
    ends = [sum(len(TOY.token_bytes(one)) for one in tokens[: at + 1]) for at in range(len(tokens))]
    return set(ends[:-1])


@given(ids=st.lists(st.integers(0, 7), max_size=6))
def test_all_lists_every_respelling_once(ids):
    """By trying all lists of one or two tokens for each part of one to three."""
    expected = set()
    for begin, end in combinations(range(len(ids) + 1), 2):
        part = ids[begin:end]
        if len(part) > 3:
            continue
        data = TOY.decode(part)
        for tokens in [(a,) for a in range(8)] + [(a, b) for a in range(8) for b in range(8)]:
            if (
                TOY.decode(tokens) == data
                and list(tokens) != part
                and not cuts(tokens) & cuts(part)
            ):
                expected.add(Respelling(begin, end, tokens))
    found = RESPELLER.all(ids)
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert RESPELLER.moved_cuts(ids) == [one for one in found if one.end - one.begin > 1]
    for one in found:
        assert TOY.decode(respelled(ids, [one])) == TOY.decode(ids)


@pytest.mark.parametrize("name", ["tiny-en", "tiny-ja"])
def test_respelled_texts_read_the_same(name):
    tokenizer = ticore.load_tokenizer(name)
    text = {
        "tiny-en": "Nobody wore the steady suffering well.",
        "tiny-ja": "彼の態度は流れている。",
    }
    ids = tokenizer.encode(text[name])
    found = Respeller(tokenizer).all(ids)
    assert len(found) > 5
    assert not {token for one in found for token in one.tokens} & tokenizer.special_ids
    assert all(tokenizer.decode(respelled(ids, [one])) == text[name] for one in found)


@given(st.lists(st.integers(-2, 9), max_size=6))
def test_ids_that_are_no_tokens_are_not_respelled(ids):
    for one in RESPELLER.all(ids):
        assert all(0 <= token < 8 for token in (*ids[one.begin : one.end], *one.tokens))
