"""Chains against tuples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.consistency._engines.chain import Chain


@given(tokens=st.lists(st.integers(0, 9), max_size=20), data=st.data())
def test_chain_reads_as_the_tuple_of_its_tokens(tokens, data):
    chain = Chain()
    for token in tokens:
        chain = chain.then(token)
    start = data.draw(st.integers(0, len(tokens)))
    part, expected = chain.since(start), tuple(tokens[start:])
    assert chain.ids() == tuple(tokens)
    assert part.ids() == tuple(part) == tuple(reversed(tuple(part.backwards()))) == expected
    assert (len(part), bool(part), part.number) == (len(expected), bool(expected), len(tokens))
    assert part[-1:] == expected[-1:]
    assert part[:2] == expected[:2]
    assert not expected or (part[-1], part[0], part.token) == (
        expected[-1],
        expected[0],
        tokens[-1],
    )
    count = data.draw(st.integers(0, len(expected)))
    assert part.last(count) == expected[len(expected) - count :]
    assert part.then(7).ids() == (*expected, 7)
    assert chain.ids() == tuple(tokens)


@pytest.mark.slow
def test_chain_is_deleted_without_recursion_when_it_is_long():
    chain = Chain()
    for token in range(300_000):
        chain = chain.then(token)
    assert len(chain) == 300_000
    del chain
