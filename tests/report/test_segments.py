"""Segments put together are both lists, and they are cut wherever both lists are."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.models import ToyTokenizer
from tests.tokenizer_contract import any_ids, numbers
from tests.tokenizers import TRAINED, train_sentencepiece
from ticore.consistency import compare
from ticore.report import Mark, differing_marks, segments

# Id 0 has no bytes, 7 and 8 are twins of 1 and 4.
TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "bé", "a", "ba", "c", "é"])


def check(comparison):
    found = segments(comparison)
    given = [token for segment in found for token in segment.given]
    again = [token for segment in found for token in segment.again]

    assert tuple((t.id, t.span) for t in given) == tuple(
        zip(comparison.ids, comparison.spans, strict=True)
    )
    assert tuple((t.id, t.span) for t in again) == tuple(
        zip(comparison.again, comparison.spans_again, strict=True)
    )
    marked = [n for n, t in enumerate(given) if t.mark is Mark.SOURCE]
    assert tuple(marked) == comparison.sits
    kept = [n for n, t in enumerate(given) if t.mark is Mark.BOUNDARY]
    assert tuple(kept) == comparison.specials
    marked = [n for n, t in enumerate(again) if t.mark is Mark.CONSEQUENTIAL]
    assert tuple(marked) == comparison.cits

    assert comparison.consistent == all(segment.same for segment in found)
    for segment in found:
        marks = {token.mark for token in (*segment.given, *segment.again)}
        alike = {Mark.BOUNDARY} if segment.boundary else {Mark.SAME}
        assert (marks == alike) if segment.same else not (marks & {Mark.SAME, Mark.BOUNDARY})
        left, right = ({e for t in s for e in t.span} for s in (segment.given, segment.again))
        if segment.given and segment.again:
            assert {segment.start} <= left & right == {min(left), max(left)}
        else:
            assert left | right == {segment.start} or not (comparison.ids and comparison.again)


@given(ids=st.lists(st.integers(0, 10), max_size=14))
@example(ids=[])
@example(ids=[0, 0])
@example(ids=[0, 1, 0, 2, 0])
def test_of_a_toy(ids):
    check(compare(TOY, ids))


@pytest.mark.parametrize("name", sorted(TRAINED))
@given(draws=numbers)
def test_of_any_list(name, draws):
    tokenizer = TRAINED[name]()
    check(compare(tokenizer, any_ids(tokenizer, draws)))


def shown(ids):
    """Segments as pairs of strings; each token is its text and its mark."""
    return [
        tuple(" ".join(TOY.pieces[t.id] + t.mark.letter.strip() for t in side) for side in pair)
        for pair in ((s.given, s.again) for s in segments(compare(TOY, ids)))
    ]


def test_by_hand():
    assert shown([9, 1, 2, 9]) == [("c", "c"), ("aS bS", "abC"), ("c", "c")]
    assert shown([1, 1, 2, 2, 4]) == [("aS aS bS", "aabC"), ("b", "b"), ("ba", "ba")]


def test_other_ids_for_the_same_bytes_differ():
    assert shown([9, 7]) == [("c", "c"), ("aO", "aO")]
    assert differing_marks(segments(compare(TOY, [9, 7]))) == [Mark.OTHER]


def test_tokens_without_bytes_stand_alone():
    assert shown([0, 9, 0, 9]) == [("S", ""), ("c", "c"), ("S", ""), ("c", "c")]
    assert shown([1, 0, 2]) == [("aS S bS", "abC")]


CHAT = ToyTokenizer(["", "a", "b", "ab", "<s>", "<e>", "<unk>"], special=(4, 5, 6))
CHAT.unknown_ids = frozenset({6})


@given(ids=st.lists(st.integers(0, 6), max_size=14))
def test_of_chats(ids):
    """Special tokens anywhere, and unknown text."""
    check(compare(CHAT, ids))


def test_special_tokens_stand_alone():
    """Between tokens without bytes and beside each other, none is taken for another."""
    comparison = compare(CHAT, [4, 1, 0, 5, 4, 1, 2, 5])
    marks = [[token.mark.letter for token in segment.given] for segment in segments(comparison)]
    assert marks == [["B"], [" "], ["S"], ["B"], ["B"], ["S", "S"], ["B"]]
    found = differing_marks(segments(comparison))
    assert found == [Mark.SOURCE, Mark.CONSEQUENTIAL, Mark.BOUNDARY]


def test_unknown_text_is_marked():
    tokenizer = train_sentencepiece(byte_fallback=False, remove_extra_whitespaces=True)
    comparison = compare(tokenizer, tokenizer.encode("\u2047"))
    check(comparison)
    assert differing_marks(segments(comparison)) == [Mark.UNKNOWN]


def test_a_text_that_gives_no_tokens():
    """Some tokenizers drop spaces; what the list has then stands opposite nothing."""

    class Dropping(ToyTokenizer):
        def encode(self, text):
            return []

    check(compare(Dropping(["", "a"]), [0, 1, 0, 1]))
    assert len(segments(compare(Dropping(["", "a"]), [1, 1]))) == 1


def test_marks_are_listed_once():
    found = segments(compare(TOY, [1, 2, 9, 1, 2, 7]))
    assert differing_marks(found) == [Mark.SOURCE, Mark.CONSEQUENTIAL, Mark.OTHER]
    assert differing_marks(segments(compare(TOY, [9]))) == []
