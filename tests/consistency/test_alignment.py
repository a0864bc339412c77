"""SITs and CITs against the definition, by brute force and by examples worked out by hand."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.models import ToyTokenizer
from tests.tokenizer_contract import any_ids, numbers
from tests.tokenizers import TRAINED
from ticore.consistency import compare

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", "é", "bé"])


@given(ids=st.lists(st.integers(1, 8), max_size=14))
def test_matches_the_definition(ids):
    """A span is compared with every span of the other side."""
    result = compare(TOY, ids)

    def brute_spans(tokens):
        return [
            (len(TOY.decode(tokens[:n]).encode()), len(TOY.decode(tokens[: n + 1]).encode()))
            for n in range(len(tokens))
        ]

    again = TOY.encode(TOY.decode(ids))
    ours, theirs = brute_spans(ids), brute_spans(again)
    assert list(result.again) == again
    assert result.sits == tuple(n for n, s in enumerate(ours) if all(s != t for t in theirs))
    assert result.cits == tuple(n for n, t in enumerate(theirs) if all(t != s for s in ours))
    assert result.consistent == (ids == again)


def test_by_hand():
    result = compare(TOY, [1, 2, 6])  # a b c reads back as ab c
    assert result.text == "abc"
    assert result.again == (3, 6)
    assert (result.sits, result.cits) == ((0, 1), (0,))


def test_inconsistency_without_sit_or_cit():
    """Two ids with one text: equal spans, another list."""
    twins = ToyTokenizer(["a", "a"])
    result = compare(twins, [1])
    assert not result.consistent
    assert result.sits == result.cits == ()


@pytest.mark.parametrize("name", sorted(TRAINED))
@given(draws=numbers)
@example(draws=[4, 0])  # malformed bytes before an unknown piece, whose text begins with a space
def test_spans_tile_the_text_of_any_list(name, draws):
    """Also where bytes are malformed: spans are in order and cover the text from end to end."""
    tokenizer = TRAINED[name]()
    result = compare(tokenizer, any_ids(tokenizer, draws))
    for spans in (result.spans, result.spans_again):
        edges = [0, *(end for _, end in spans)]
        assert [start for start, _ in spans] == edges[:-1]
        assert edges == sorted(edges)
    if result.spans:
        assert result.spans[-1][1] == len(result.text.encode())
    if result.consistent:
        assert result.sits == result.cits == ()


@pytest.mark.parametrize("name", sorted(TRAINED))
def test_a_malformed_byte_leaves_its_surroundings_alone(name):
    """A lone byte of a longer character becomes U+FFFD; tokens around it still match."""
    tokenizer = TRAINED[name]()
    lone = [i for i in range(tokenizer.vocab_size) if tokenizer.token_bytes(i) == b"\xe3"]
    if not lone:
        pytest.skip("this tokenizer has no bytes")
    before, after = tokenizer.encode("one two"), tokenizer.encode("x three four")
    result = compare(tokenizer, [*before, lone[0], *after])
    assert not result.consistent
    assert len(before) in result.sits
    assert 0 not in result.sits
    assert len(result.ids) - 1 not in result.sits
