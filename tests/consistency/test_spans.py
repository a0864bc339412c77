"""The bytes that tokens cover."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.consistency._spans import Spans, places_of

pieces = st.lists(st.sampled_from([b"", b"a", b" b", "é".encode(), b"abc"]), max_size=6)


def read(some):
    return Spans.of(some, b"".join(some))


@given(some=pieces, at=st.integers(-7, 6))
def test_spans_equal_a_tuple_of_starts_and_ends(some, at):
    data, expected = b"", []
    for piece in some:
        expected.append((len(data), len(data + piece)))
        data += piece
    spans = read(some)
    assert spans == tuple(expected) == spans[:]
    assert spans == read(some)
    assert hash(spans) == hash(tuple(expected))
    assert repr(spans) == repr(tuple(expected))
    if -len(some) <= at < len(some):
        assert spans[at] == expected[at]
    else:
        with pytest.raises(IndexError):
            spans[at]


@given(some=pieces, others=pieces)
def test_positions_of_others_are_those_whose_span_is_not_there(some, others):
    spans, theirs = read(some), read(others)
    expected = tuple(n for n, span in enumerate(spans) if span not in set(theirs))
    assert spans.positions_of_others(theirs) == expected


@given(parts=st.lists(st.tuples(pieces, st.integers(0, 2)), min_size=1, max_size=4))
def test_joined_puts_an_empty_span_between_two_texts(parts):
    lengths = [len(b"".join(some)) + more for some, more in parts]
    expected, at = [], 0
    for n, ((some, _), length) in enumerate(zip(parts, lengths, strict=True)):
        expected += [(at, at)] * (n > 0)
        expected += [(at + a, at + b) for a, b in read(some)]
        at += length
    spans = [places_of(some, b"".join(some)) for some, _ in parts]
    assert Spans.joined(zip(spans, lengths, strict=True)) == tuple(expected)


def test_a_removed_dummy_prefix_takes_no_bytes():
    assert Spans.of([b" a", b"b"], b"ab") == ((0, 1), (1, 2))


@pytest.mark.parametrize(
    "changed", [[50_000], [3, 20_000, 20_001, 90_000], [*range(0, 100_000, 997)]]
)
def test_long_texts_are_mapped_past_each_change(changed):
    """Bytes that are no character: as `decode` writes them, one U+FFFD for each."""
    spelled = bytearray(b"The morning was cold, and nobody had thought of it. " * 2000)
    for at in changed:
        spelled[at] = 0xFF
    pieces = [bytes(spelled[at : at + 5]) for at in range(0, len(spelled), 5)]
    text = bytes(spelled).decode(errors="replace").encode()
    places = places_of(pieces, text)
    assert places[-1] == len(text)
    for at, piece in zip(places, pieces, strict=False):
        if b"\xff" not in piece:
            assert text[at : at + 5] == piece


def test_long_texts_that_have_nothing_in_common_are_mapped_evenly():
    places = places_of([b"a" * 10] * 1000, b"b" * 5000)
    assert places == [*range(0, 5001, 5)]
