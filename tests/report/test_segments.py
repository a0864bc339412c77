"""Segments put together are both lists, and they are cut wherever both lists are."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.models import ToyTokenizer
from tests.tokenizer_contract import any_ids, numbers
from tests.tokenizers import TRAINED
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
    marked = [n for n, t in enumerate(again) if t.mark is Mark.CONSEQUENTIAL]
    assert tuple(marked) == comparison.cits

    assert comparison.consistent == all(segment.same for segment in found)
    for segment in found:
        marks = {token.mark for token in (*segment.given, *segment.again)}
        assert (marks == {Mark.SAME}) if segment.same else (Mark.SAME not in marks)
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
