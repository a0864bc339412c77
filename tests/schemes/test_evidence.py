"""Distinct draws are the first ones, in one text or in each of many."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ticore.schemes import Evidence
from ticore.schemes._evidence import BatchEvidence, first_occurrences
from ticore.schemes._payload import PayloadEvidence

DRAWS = st.lists(
    st.one_of(st.integers(0, 5), st.sampled_from([-(2**63), 2**63 - 1, 1 << 40, -1])), max_size=60
)


def expected(draws, texts):
    seen = set()
    return [(pair in seen, seen.add(pair))[0] is False for pair in zip(texts, draws, strict=True)]


@settings(max_examples=100, deadline=None)
@given(draws=DRAWS, data=st.data())
def test_first_occurrences_are_the_values_not_seen_before(draws, data):
    texts = sorted(data.draw(st.lists(st.integers(0, 3), min_size=len(draws), max_size=len(draws))))
    one = np.array(draws, np.int64)
    assert first_occurrences(one).tolist() == expected(draws, [0] * len(draws))
    assert first_occurrences(one, np.array(texts, np.int64)).tolist() == expected(draws, texts)


def test_first_occurrences_are_right_when_values_are_hashed():
    """More than are sorted; also such as agree in almost all bits, which hash alike."""
    rng = np.random.default_rng(1)
    for draws in (
        rng.integers(3000, size=20_000),
        rng.integers(300, size=20_000) << 54,
        rng.integers(-(2**63), 2**63 - 1, size=20_000),
        np.zeros(20_000, np.int64),
    ):
        _, first = np.unique(draws, return_index=True)
        assert (np.flatnonzero(first_occurrences(draws)) == np.sort(first)).all()
        texts = np.repeat(np.arange(100), 200)
        pairs = np.unique(np.stack([texts, draws], axis=1), axis=0, return_index=True)[1]
        assert (np.flatnonzero(first_occurrences(draws, texts)) == np.sort(pairs)).all()


def test_after_context_gives_positions_to_all_tokens_after_it():
    one = np.array([3, 1, 2])
    evidence = Evidence.after_context(5, one, one + 1, one / 2)
    assert evidence.positions.tolist() == [5, 6, 7]
    assert evidence.draw_ids.tolist() == [4, 2, 3]
    values = np.arange(6.0).reshape(3, 2)
    with_payload = PayloadEvidence.after_context(2, one, one, one / 2, one - 1, values)
    assert with_payload.positions.tolist() == [2, 3, 4]
    assert with_payload.places.tolist() == [2, 0, 1]
    assert (with_payload.where(slice(1, 2)).value_scores == [[2.0, 3.0]]).all()


@settings(max_examples=50, deadline=None)
@given(draws=DRAWS, data=st.data())
def test_batch_evidence_agrees_with_the_evidence_of_each_text(draws, data):
    cuts = data.draw(st.lists(st.integers(0, len(draws)), max_size=4))
    bounds = np.array([0, *sorted(cuts), len(draws)])
    count = np.arange(len(draws))
    scores = np.random.default_rng(len(draws)).exponential(size=len(draws))
    texts = BatchEvidence(Evidence(count, count % 3, np.array(draws, np.int64), scores), bounds)
    distinct = texts.distinct()
    assert distinct.bounds[-1] == len(distinct.all)
    for at in range(len(bounds) - 1):
        alone = texts.text(at)
        assert distinct.text(at).positions.tolist() == alone.distinct().positions.tolist()
        assert texts.totals[at] == BatchEvidence.of(alone).totals[0]
        assert (texts.text_numbers[bounds[at] : bounds[at + 1]] == at).all()
