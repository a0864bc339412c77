"""Basic: what it keeps, by its definition."""

from hypothesis import given

from tests.support.pools import pool, prefix_free, toys
from tests.support.toy_models import ToyTokenizer
from ticore.disambiguation import Basic, PromptContext
from ticore.disambiguation._prefixes import PrefixForest


def kept_of(tokenizer, candidates):
    session = Basic(PromptContext(tokenizer, "", [])).start()
    return session.refine(candidates, iter([]))


def test_basic_drops_tokens_that_begin_another():
    tokenizer = ToyTokenizer(["a", "ab", "abc", "b", "ba", "c"])
    assert kept_of(tokenizer, pool(0, 1, 2, 3, 5)).ids.tolist() == [2, 3, 5]


def test_basic_keeps_the_first_of_equal_strings():
    tokenizer = ToyTokenizer(["a", "b", "a"])
    assert kept_of(tokenizer, pool(2, 1, 0)).ids.tolist() == [2, 1]


def test_basic_keeps_tokens_that_begin_no_other_in_each_forest():
    """Part of a character is decoded to a replacement character, which begins no other string."""
    decoded = PrefixForest(["\N{REPLACEMENT CHARACTER}".encode(), "あ".encode(), b"x", b"xy"])
    spelled = PrefixForest(["あ".encode()[:1], "あ".encode(), b"x", b"xy"])
    for forests in ([decoded, spelled], [spelled, decoded]):
        assert Basic.choose(None, pool(0, 1, 2, 3), forests).ids.tolist() == [1, 3]


@given(toys())
def test_basic_keeps_tokens_that_begin_no_other(toy):
    tokenizer, candidates = toy
    strings = [tokenizer.pieces[i] for i in candidates.ids]
    expected = [
        token
        for n, (token, string) in enumerate(zip(candidates.ids.tolist(), strings, strict=True))
        if not any(other != string and other.startswith(string) for other in strings)
        and string not in strings[:n]
    ]
    choices = kept_of(tokenizer, candidates)
    assert choices.ids.tolist() == choices.kept.ids.tolist() == expected
    assert prefix_free(tokenizer.pieces[i] for i in choices.ids)
    assert choices.mass.tolist() == choices.kept.unnormalized_probs.tolist()
