"""Digests are equal for equal batches alone."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from ticore.corpus._base import CorpusText, Problem
from ticore.corpus._batch_digests import digest_of_lines, digest_of_texts

TEXT_LISTS = st.lists(st.text() | st.builds(Problem, st.text()), max_size=4)
LINE_LISTS = st.lists(st.none() | st.binary(max_size=3), max_size=4)


@given(one=TEXT_LISTS, other=TEXT_LISTS)
@example(one=["a", "b"], other=["ab"])
@example(one=["at1\nb"], other=["a", "b"])
@example(one=["a"], other=[Problem("a")])
@example(one=["\ud800"], other=["\udc00"])
def test_digest_of_texts_is_equal_only_for_equal_texts(
    one: list[CorpusText], other: list[CorpusText]
) -> None:
    assert (digest_of_texts(one) == digest_of_texts(other)) == (one == other)


@given(one=LINE_LISTS, other=LINE_LISTS)
@example(one=[None], other=[b""])
@example(one=[b"a", b"b"], other=[b"ab"])
@example(one=[b"al1\nb"], other=[b"a", b"b"])
def test_digest_of_lines_is_equal_only_for_equal_lines(
    one: list[bytes | None], other: list[bytes | None]
) -> None:
    assert (digest_of_lines(one) == digest_of_lines(other)) == (one == other)
