"""SITs and CITs against the definition, by brute force and by examples worked out by hand."""

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.slow import FEW_TOKENIZERS, slow_unless
from tests.support.tokenizer_contract import any_ids, numbers
from tests.support.tokenizers import FRAGMENTS, TRAINED, train_sentencepiece
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import _comparison, compare, compare_batch
from ticore.consistency._boundaries import boundary_ids, parts
from ticore.consistency._engines.retokenizing import Oracle
from ticore.errors import SettingsError, WrongTypeError

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", "é", "bé"])


@given(ids=st.lists(st.integers(1, 8), max_size=14))
def test_compare_equals_the_definition_of_sits_and_cits(ids):
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


def test_compare_gives_spans_that_were_worked_out_by_hand():
    result = compare(TOY, [1, 2, 6])  # a b c reads back as ab c
    assert result.text == "abc"
    assert result.again == (3, 6)
    assert (result.sits, result.cits) == ((0, 1), (0,))


def test_compare_finds_inconsistency_without_sits_and_cits():
    """Two ids with one text: equal spans, another list."""
    twins = ToyTokenizer(["a", "a"])
    result = compare(twins, [1])
    assert not result.consistent
    assert result.sits == result.cits == ()


@pytest.mark.parametrize("name", slow_unless(FEW_TOKENIZERS, sorted(TRAINED)))
@given(draws=numbers)
@example(draws=[4, 0])  # malformed bytes before an unknown piece, whose text begins with a space
@example(draws=[130, 1])  # a control character that is dropped, and then a special token
def test_compare_gives_spans_that_cover_the_text_of_any_list(name, draws):
    """Also where bytes are malformed: spans are in order and cover the text from end to end."""
    tokenizer = TRAINED[name]()
    result = compare(tokenizer, any_ids(tokenizer, draws))
    for spans in (result.spans, result.spans_again):
        edges = [0, *(end for _, end in spans)]
        kept = result.specials if spans is result.spans else result.specials_again
        for n, (start, before) in enumerate(
            zip((start for start, _ in spans), edges, strict=False)
        ):
            # Of a part that is read back as no tokens, only where the next one begins is seen.
            assert start == before or (start > before and n in kept)
        assert edges == sorted(edges)
    if result.spans:
        assert result.spans[-1][1] == len(result.text.encode())
    if result.consistent:
        assert result.sits == result.cits == ()


@pytest.mark.parametrize("name", sorted(TRAINED))
def test_compare_keeps_the_spans_around_a_malformed_byte(name):
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


CHAT = ToyTokenizer(["", "a", "b", "ab", "<s>", "<e>", "<unk>"], special=(4, 5, 6))
CHAT.unknown_ids = frozenset({6})


def test_compare_keeps_special_tokens_and_retokenizes_between_them():
    """A split token in the second part is found there, and nowhere else."""
    result = compare(CHAT, [4, 1, 5, 4, 2, 1, 2, 5])
    assert result.text == "abab"
    assert result.again == (4, 1, 5, 4, 2, 3, 5)
    assert result.spans == ((0, 0), (0, 1), (1, 1), (1, 1), (1, 2), (2, 3), (3, 4), (4, 4))
    assert result.spans_again == ((0, 0), (0, 1), (1, 1), (1, 1), (1, 2), (2, 4), (4, 4))
    assert (result.sits, result.cits) == ((5, 6), (5,))
    assert (result.specials, result.specials_again) == ((0, 2, 3, 7), (0, 2, 3, 6))
    assert not result.consistent


@pytest.mark.parametrize("ids", [[4], [1, 5], [4, 1], [4, 1, 5, 2], [5, 5, 4]])
def test_compare_keeps_special_tokens_at_both_ends(ids):
    result = compare(CHAT, ids)
    assert result.consistent
    assert result.again == tuple(ids)
    assert result.sits == result.cits == ()


def test_compare_reports_ids_for_unknown_text():
    """Its id is read back here, and its text is lost all the same."""
    tokenizer = train_sentencepiece(byte_fallback=False, remove_extra_whitespaces=True)
    (unknown,) = tokenizer.unknown_ids
    ids = tokenizer.encode("\u2047")
    result = compare(tokenizer, ids)
    assert result.ids == result.again
    assert not result.consistent
    assert result.unknowns == (ids.index(unknown),)
    assert compare(CHAT, [4, 1, 6]).unknowns == (2,)


@pytest.mark.parametrize("ids", [[1, 7], [-1], [1, 2**40]])
def test_compare_refuses_ids_that_the_tokenizer_does_not_have(ids):
    with pytest.raises(SettingsError, match="expected token ids from 0 to 6, found"):
        compare(CHAT, ids)


@pytest.mark.parametrize("name", slow_unless(FEW_TOKENIZERS, sorted(TRAINED)))
@given(draws=numbers, text=st.sampled_from(["", "a fox", "naïve café  12", "日本語 😀\n"]))
def test_compare_finds_consistent_what_the_definition_does(name, draws, text):
    """With special tokens strewn in: consistent alike, and each part is compared by itself."""
    tokenizer = TRAINED[name]()
    special = sorted(tokenizer.special_ids)
    strewn = [special[number % len(special)] for number in draws] if special else []
    true = tokenizer.encode(text)
    ids = [i for pair in zip([*true, *true, 0], [*strewn, *true, 0], strict=False) for i in pair]
    for some in (ids, [*true, *strewn[:1], *true], any_ids(tokenizer, draws)):
        result = compare(tokenizer, some)
        assert result.consistent == Oracle(tokenizer).is_consistent(some)
        boundaries = boundary_ids(tokenizer)
        assert [some[n] for n in result.specials] == [i for i in some if i in boundaries]
        cut = [compare(tokenizer, some[part.start : part.stop]) for part in parts(some, boundaries)]
        assert result.text == "".join(part.text for part in cut)
        for chosen, kept, lists in (
            (result.sits, result.specials, [(part.ids, part.sits) for part in cut]),
            (result.cits, result.specials_again, [(part.again, part.cits) for part in cut]),
        ):
            starts = [0, *(n + 1 for n in kept)]
            expected = [s + n for s, (_, found) in zip(starts, lists, strict=True) for n in found]
            assert list(chosen) == expected


@pytest.mark.parametrize("specials", ["gaps", "refuse"])
def test_lists_of_long_texts_are_compared_by_tables_as_without(monkeypatch, specials):
    """Where a text is very long, parts that survive are looked up and not encoded."""
    for name, opened in sorted(TRAINED.items()):
        tokenizer, draw = opened(), random.Random(name)
        special = sorted(tokenizer.special_ids)
        lists = []
        for _ in range(12):
            ids = []
            for _ in range(draw.randrange(4)):
                ids += tokenizer.encode(draw.choice(FRAGMENTS)) * draw.randrange(3)
                if special and draw.random() < 0.3:
                    ids.append(draw.choice(special))
                if draw.random() < 0.3:
                    ids += any_ids(tokenizer, [draw.randrange(1 << 16)])
            lists.append(ids)
        found = [compare(tokenizer, ids, specials=specials) for ids in lists]
        with monkeypatch.context() as patched:
            patched.setattr(_comparison, "_LONG", 0)
            patched.setattr(_comparison, "_VERY_LONG", 0)
            patched.setattr(_comparison, "_LONG_WORD", 1 << 20)
            for ids, expected in zip(lists, found, strict=True):
                assert compare(tokenizer, ids, specials=specials) == expected, (name, ids)


@pytest.mark.parametrize(("lists", "rereads"), [(5, None), ("a", None), ([[5]], 3)])
def test_compare_batch_refuses_what_is_no_list(lists, rereads):
    with pytest.raises(WrongTypeError, match=r"expected a list of .*; give \[it\]"):
        compare_batch(TOY, lists, rereads=rereads)


def test_compare_batch_takes_lists_one_by_one():
    (found,) = compare_batch(TOY, (ids for ids in [TOY.encode("a")]))
    assert found.consistent
