"""No scores have a lower p-value than the strongest ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ticore
from tests.support.toy_models import ToyTokenizer
from ticore.schemes import BinomialNull, Evidence, ExponentialNull, HypergeometricNull
from ticore.schemes._evidence import BatchEvidence
from ticore.schemes._strongest import strongest_by_length, strongest_p_values
from ticore.schemes._two_key_null import TwoKeyNull
from ticore.schemes.external._grid_null import GridNull


def texts_of(scores, seeds, bounds):
    count = np.arange(len(scores))
    return BatchEvidence(Evidence(count, np.array(seeds, np.int64), count, scores), bounds)


@settings(max_examples=60, deadline=None)
@given(
    null=st.sampled_from(
        [
            BinomialNull(0.25, 0.5),
            HypergeometricNull(0.4, 0.6, 4, 10),
            ExponentialNull(),
            TwoKeyNull(0.75),
            GridNull(np.array([0.5, 0.125, 0.375])),
        ]
    ),
    seed=st.integers(0, 999),
    lengths=st.lists(st.integers(0, 8), min_size=1, max_size=4),
)
def test_strongest_p_values_are_those_of_the_highest_scores(null, seed, lengths):
    rng = np.random.default_rng(seed)
    total = sum(lengths)
    seeds = rng.integers(0, 3, total)
    bounds = np.append(0, np.cumsum(lengths))
    highest = 33 * np.log(2) if isinstance(null, ExponentialNull | TwoKeyNull) else 1.0
    found = strongest_p_values(null, texts_of(np.full(total, highest), seeds, bounds))
    expected = null.p_values(texts_of(np.full(total, highest), seeds, bounds))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)
    scores = rng.random(total).round() if highest == 1 else rng.exponential(size=total)
    if isinstance(null, GridNull):  # tokens after equal seeds have equal scores
        scores = (rng.integers(0, 3, (total + 1, 3)) / 2)[
            np.searchsorted(bounds[1:-1], range(total), "right"), seeds
        ]
    others = null.p_values(texts_of(scores, seeds, bounds))
    assert (found <= others * (1 + 1e-6) + 1e-12).all()


def test_strongest_p_value_of_two_keys_is_computed_once_for_each_length(monkeypatch):
    tail, counts = TwoKeyNull.tail, []

    def counted(null, total, count):
        counts.append(count)
        return tail(null, total, count)

    monkeypatch.setattr(TwoKeyNull, "tail", counted)
    lengths = np.array([7, 0, 9, 7, 9, 7])
    null = TwoKeyNull(0.8125)  # of no other test
    found = strongest_by_length(null, lengths)
    assert sorted(counts) == [0, 7, 9]
    assert strongest_by_length(TwoKeyNull(0.8125), lengths).tolist() == found.tolist()
    assert sorted(counts) == [0, 7, 9]
    assert strongest_by_length(TwoKeyNull(0.8125, 5.0), lengths)[0] > found[0]
    pairs = zip((lengths * null.highest).tolist(), lengths.tolist(), strict=True)
    assert found.tolist() == [tail(null, total, count) for total, count in pairs]
    assert strongest_by_length(null, lengths[:0]).shape == (0,)


def test_detection_says_that_a_text_is_too_short_to_tell():
    tokenizer = ToyTokenizer(["a"] * 300)
    detector = ticore.WatermarkDetector(tokenizer, "left_hash", key=bytes(16), fpr=1e-3)
    short, long = detector.detect_ids(range(11)), detector.detect_ids(range(12))
    assert short.strongest_p_value == 2.0**-10
    assert (short.too_short, long.too_short) == (True, False)
    assert (short.to_dict()["too_short"], long.to_dict()["too_short"]) == (True, False)
    gumbel = ticore.WatermarkDetector(tokenizer, "gumbel", key=bytes(16))
    assert not gumbel.detect_ids(range(6)).too_short
    textseal = ticore.WatermarkDetector.for_textseal(tokenizer, {"secret_key": 5})
    shortest, short = textseal.detect_ids([1, 2]), textseal.detect_ids([1, 2, 3])
    assert shortest.strongest_p_value == pytest.approx(1 / 8191)  # its numbers have 13 bits
    assert (shortest.too_short, short.too_short) == (True, False)
    synthid = ticore.WatermarkDetector.for_synthid(
        tokenizer, {"keys": list(range(30)), "ngram_len": 4}
    )
    shortest, short = synthid.detect_ids(range(4)), synthid.detect_ids(range(5))
    assert (shortest.strongest_p_value, short.strongest_p_value) == (4.0**-8, 4.0**-16)
    assert (shortest.too_short, short.too_short) == (True, False)
