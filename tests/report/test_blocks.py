"""Blocks put together are both lists, and a block ends wherever both lists have a boundary."""

from itertools import takewhile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ticore.report
from tests.support.slow import FEW_TOKENIZERS, slow_unless
from tests.support.tokenizer_contract import any_ids, numbers
from tests.support.tokenizers import TRAINED, train_sentencepiece
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import compare
from ticore.report import Block, ComparedToken, TokenStatus, blocks, differing_statuses

# Id 0 has no bytes, 7 and 8 are twins of 1 and 4.
TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "bé", "a", "ba", "c", "é"])


def is_ordinary(block):
    return not block.boundary


def check(comparison):
    found = blocks(comparison)
    given = [token for block in found for token in block.given]
    again = [token for block in found for token in block.again]

    assert tuple((t.id, t.span) for t in given) == tuple(
        zip(comparison.ids, comparison.spans, strict=True)
    )
    assert tuple((t.id, t.span) for t in again) == tuple(
        zip(comparison.again, comparison.spans_again, strict=True)
    )
    marked = [n for n, t in enumerate(given) if t.status is TokenStatus.SOURCE]
    assert tuple(marked) == comparison.sits
    kept = [n for n, t in enumerate(given) if t.status is TokenStatus.BOUNDARY]
    assert tuple(kept) == comparison.specials
    marked = [n for n, t in enumerate(again) if t.status is TokenStatus.CONSEQUENTIAL]
    assert tuple(marked) == comparison.cits

    assert comparison.consistent == all(block.same for block in found)
    for n, block in enumerate(found):
        statuses = {token.status for token in (*block.given, *block.again)}
        alike = {TokenStatus.BOUNDARY} if block.boundary else {TokenStatus.SAME}
        assert (
            (statuses == alike)
            if block.same
            else not (statuses & {TokenStatus.SAME, TokenStatus.BOUNDARY})
        )
        left, right = ({e for t in s for e in t.span} for s in (block.given, block.again))
        if block.given and block.again:
            assert {block.start} <= left & right == {min(left), max(left)}
        else:
            # A side may lack tokens for bytes only if it has none between two special tokens.
            near = [*takewhile(is_ordinary, found[n::-1]), *takewhile(is_ordinary, found[n:])]
            one_sided = not any(b.given for b in near) or not any(b.again for b in near)
            assert left | right == {block.start} or one_sided


@given(ids=st.lists(st.integers(0, 10), max_size=14))
@example(ids=[])
@example(ids=[0, 0])
@example(ids=[0, 1, 0, 2, 0])
def test_blocks_are_right_for_any_list_of_a_toy_tokenizer(ids):
    check(compare(TOY, ids))


@pytest.mark.parametrize("name", slow_unless(FEW_TOKENIZERS, sorted(TRAINED)))
@given(draws=numbers)
def test_blocks_are_right_for_any_list_of_a_trained_tokenizer(name, draws):
    tokenizer = TRAINED[name]()
    check(compare(tokenizer, any_ids(tokenizer, draws)))


def shown(ids):
    """Blocks as pairs of strings; each token is its text and its letter."""
    return [
        tuple(" ".join(TOY.pieces[t.id] + t.status.letter.strip() for t in side) for side in pair)
        for pair in ((s.given, s.again) for s in blocks(compare(TOY, ids)))
    ]


def test_blocks_equal_examples_by_hand():
    assert shown([9, 1, 2, 9]) == [("c", "c"), ("aS bS", "abC"), ("c", "c")]
    assert shown([1, 1, 2, 2, 4]) == [("aS aS bS", "aabC"), ("b", "b"), ("ba", "ba")]


def test_blocks_mark_other_ids_for_the_same_bytes():
    assert shown([9, 7]) == [("c", "c"), ("aO", "aO")]
    assert differing_statuses(blocks(compare(TOY, [9, 7]))) == [TokenStatus.OTHER]


def test_tokens_without_bytes_are_blocks_of_their_own_at_common_boundaries():
    assert shown([0, 9, 0, 9]) == [("S", ""), ("c", "c"), ("S", ""), ("c", "c")]
    assert shown([1, 0, 2]) == [("aS S bS", "abC")]


CHAT = ToyTokenizer(["", "a", "b", "ab", "<s>", "<e>", "<unk>"], special=(4, 5, 6))
CHAT.unknown_ids = frozenset({6})


@given(ids=st.lists(st.integers(0, 6), max_size=14))
def test_blocks_are_right_for_any_chat(ids):
    """Special tokens anywhere, and unknown text."""
    check(compare(CHAT, ids))


def test_special_tokens_are_blocks_of_their_own():
    """They are told apart beside each other and beside tokens without bytes."""
    comparison = compare(CHAT, [4, 1, 0, 5, 4, 1, 2, 5])
    statuses = [[token.status.letter for token in block.given] for block in blocks(comparison)]
    assert statuses == [["B"], [" "], ["S"], ["B"], ["B"], ["S", "S"], ["B"]]
    found = differing_statuses(blocks(comparison))
    assert found == [TokenStatus.SOURCE, TokenStatus.CONSEQUENTIAL, TokenStatus.BOUNDARY]


def test_blocks_mark_unknown_text():
    tokenizer = train_sentencepiece(byte_fallback=False, remove_extra_whitespaces=True)
    comparison = compare(tokenizer, tokenizer.encode("\u2047"))
    check(comparison)
    assert differing_statuses(blocks(comparison)) == [TokenStatus.UNKNOWN]


def test_blocks_are_right_when_a_text_gives_no_tokens():
    """Some tokenizers drop spaces: the tokens of H are then opposite an empty side."""

    class Dropping(ToyTokenizer):
        def encode(self, text):
            return []

    check(compare(Dropping(["", "a"]), [0, 1, 0, 1]))
    check(compare(Dropping(["", "a", "<s>"], special=(2,)), [2, 1, 1, 2]))
    assert len(blocks(compare(Dropping(["", "a"]), [1, 1]))) == 1


def test_differing_statuses_lists_each_status_once():
    found = blocks(compare(TOY, [1, 2, 9, 1, 2, 7]))
    assert differing_statuses(found) == [
        TokenStatus.SOURCE,
        TokenStatus.CONSEQUENTIAL,
        TokenStatus.OTHER,
    ]
    assert differing_statuses(blocks(compare(TOY, [9]))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Mark", TokenStatus),
        ("Segment", Block),
        ("Token", ComparedToken),
        ("differing_marks", differing_statuses),
        ("segments", blocks),
    ],
)
def test_old_name_warns_and_is_the_new_thing(old, new):
    with pytest.warns(DeprecationWarning, match=rf"ticore\.report\.{old} is deprecated"):
        assert getattr(ticore.report, old) is new
