"""A payload is read as it was written, and the p-value pays for the choice among all payloads."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import ticore
from tests.support.toy_models import ToyTokenizer
from ticore.errors import SettingsError
from ticore.schemes import GumbelPayload, make_scheme
from ticore.schemes._evidence import BatchEvidence
from ticore.schemes._gumbel_payload import _BLOCK
from ticore.schemes._payload import PayloadEvidence, PayloadNull
from ticore.testing import SchemeContract

KEY = bytes(range(32))
SIZE = 500
PAYLOAD = bytes.fromhex("00ff5aa5")


def written(scheme, seed, length, entropy=1.0):
    rng = np.random.default_rng(seed)
    ids = rng.integers(SIZE, size=scheme.context).tolist()
    while len(ids) < length:
        logits = rng.normal(size=SIZE) * 2 / entropy
        ids.append(int(np.argmax(scheme.bias(ids[len(ids) - scheme.context :], logits))))
    return ids


class TestGumbelPayload(SchemeContract):
    @pytest.fixture(params=[{}, {"context": 1, "payload": "07", "payload_bits": 8}], ids=str)
    def scheme(self, request):
        return GumbelPayload(KEY, self.vocab_size, **{"payload": PAYLOAD} | request.param)


@settings(max_examples=10, deadline=None)
@given(st.binary(min_size=1, max_size=8), st.integers(0, 999))
def test_the_payload_is_read_without_knowing_it(payload, seed):
    bits = 8 * len(payload)
    ids = written(GumbelPayload(KEY, SIZE, payload=payload, payload_bits=bits), seed, 200)
    reader = GumbelPayload(KEY, SIZE, payload_bits=bits)
    found = reader.null.read(reader.evidence(ids).distinct())
    assert found.payload == payload
    assert found.confidence > 0.99
    assert len(found.bit_confidences) == bits
    other = GumbelPayload(KEY[::-1], SIZE, payload_bits=bits)
    nothing = other.null.read(other.evidence(ids).distinct())
    assert nothing.confidence < 0.7


def test_scores_are_those_of_the_payload_that_the_bias_prefers():
    """Also where the payload's byte is not the one with the highest score."""
    scheme = GumbelPayload(KEY, SIZE, payload=PAYLOAD)
    ids = np.random.default_rng(1).integers(0, SIZE, 60).tolist()
    evidence = scheme.evidence(ids)
    assert set(evidence.places.tolist()) == {0, 1, 2, 3}
    for at, score in zip(evidence.positions.tolist(), evidence.scores_of(PAYLOAD), strict=True):
        bias = scheme.bias(ids[at - 5 : at], np.zeros(SIZE))[ids[at]]
        assert score == pytest.approx(-np.log1p(-np.exp(-np.exp(-bias))), rel=1e-6)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_payloads_are_the_same_in_every_library(library):
    xp = pytest.importorskip("torch" if library == "torch" else "jax.numpy")
    scheme = GumbelPayload(KEY, SIZE, payload=PAYLOAD)
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(8, SIZE)).astype(np.float32)
    many = rng.integers(0, SIZE, size=(8, 5))
    alone = np.stack([scheme.bias(c.tolist(), row) for c, row in zip(many, logits, strict=True)])
    bias = scheme.bias
    if library == "jax":
        bias = pytest.importorskip("jax").jit(bias)
    rows = np.asarray(bias(xp.asarray(many), xp.asarray(logits)))
    np.testing.assert_allclose(rows, alone, rtol=2e-6, atol=2e-6)
    assert (rows.argmax(axis=1) == alone.argmax(axis=1)).all()


def test_each_token_is_chosen_with_its_probability_whatever_the_payload():
    shares = [0.5, 0.3, 0.15, 0.05]
    for payload in (b"\0", b"\xc3"):
        keys = [n.to_bytes(16, "little") for n in range(3000)]
        schemes = [GumbelPayload(key, 4, payload=payload, payload_bits=8) for key in keys]
        chosen = [int(np.argmax(one.bias([0] * 5, np.log(shares)))) for one in schemes]
        assert np.abs(np.bincount(chosen, minlength=4) / 3000 - shares).max() < 0.03


def random_evidence(rng, count, places):
    none = np.arange(count)
    scores = rng.exponential(size=(count, 256))
    return PayloadEvidence(
        none, none, none, scores.max(axis=1), rng.integers(places, size=count), scores
    )


@pytest.mark.parametrize(("count", "places"), [(1, 8), (30, 2), (60, 8)])
def test_p_values_are_uniform_without_a_watermark(count, places):
    """Kolmogorov and Smirnov: the distance exceeds 1.95 / sqrt(n) with a probability of 0.001."""
    rng = np.random.default_rng(count)
    null = PayloadNull(places)
    found = np.sort([null.p_value(random_evidence(rng, count, places)) for _ in range(500)])
    assert np.abs(found - np.arange(500) / 500).max() < 1.95 / np.sqrt(500)


def test_p_value_of_one_token_is_that_of_the_highest_of_256_scores():
    one = random_evidence(np.random.default_rng(5), 1, 4)
    expected = 1 - (1 - np.exp(-one.scores[0])) ** 256
    assert PayloadNull(4).p_value(one) == pytest.approx(expected)


def test_strength_is_the_sum_over_places_in_standard_deviations():
    """Each place that has a token adds -ln of a uniform p-value, of mean and variance 1."""
    one = random_evidence(np.random.default_rng(1), 4, 5)
    one = replace(one, places=np.arange(4))
    p_values = 1 - (1 - np.exp(-one.scores)) ** 256
    assert PayloadNull(5).strength(one) == pytest.approx((-np.log(p_values).sum() - 4) / 2)


def test_likelihood_ratios_have_a_mean_of_one_after_any_earlier_tokens():
    """Their mean over a uniform u for each value is exactly 1: the values' ratios are averaged."""
    rng = np.random.default_rng(2)
    before = random_evidence(rng, 6, 1)
    means = []
    for _ in range(2000):
        last = random_evidence(rng, 1, 1)
        joined = [np.concatenate([getattr(before, n), getattr(last, n)]) for n in FIELDS]
        found = PayloadNull(1).likelihood_ratios(BatchEvidence.of(PayloadEvidence(*joined)))
        means.append(np.exp(found.logs[:, -1]))
    # The lowest strength has a finite variance, so that its mean of 2,000 is close to its own.
    assert np.mean(means, axis=0)[0] == pytest.approx(1, abs=0.06)


@pytest.mark.parametrize("mean", [1, 100])
def test_likelihood_ratios_are_averages_over_values(mean):
    """Computed from the definition, also where the ratios themselves would overflow."""
    rng = np.random.default_rng(mean)
    one = random_evidence(rng, 40, 2)
    one = PayloadEvidence(
        *(getattr(one, name) * (mean if "score" in name else 1) for name in FIELDS)
    )
    found = PayloadNull(2).likelihood_ratios(BatchEvidence.of(one)).logs
    for tilt, logs in zip((0.3, 0.5, 0.7), found, strict=True):
        for place in (0, 1):
            steps = np.log(1 - tilt) + tilt * one.value_scores[one.places == place]
            known = special.logsumexp(np.cumsum(steps, axis=0), axis=1) - np.log(256)
            assert logs[one.places == place].cumsum() == pytest.approx(known, rel=1e-12, abs=1e-10)


def test_scores_of_a_long_text_are_those_of_its_parts():
    scheme = GumbelPayload(b"k" * 32, 512, context=2)
    ids = np.random.default_rng(4).integers(0, 512, _BLOCK + 300)
    whole, end = scheme.evidence(ids), scheme.evidence(ids[_BLOCK - 102 :])
    assert len(whole) == len(ids) - 2
    np.testing.assert_array_equal(whole.value_scores[_BLOCK - 102 :], end.value_scores)


def test_reading_fills_no_table_of_the_vocabulary():
    """A list of a thousand keys would hold a thousand of them."""
    reader = GumbelPayload(KEY, SIZE)
    reader.evidence([7] * 40)
    assert not len(reader._numbers._arrays._results)


FIELDS = ("positions", "seeds", "draw_ids", "scores", "places", "value_scores")


@pytest.mark.parametrize("places", [1, 4])
def test_results_of_a_text_do_not_depend_on_the_others(places):
    scheme = GumbelPayload(KEY, SIZE, payload_bits=8 * places)
    detector = ticore.WatermarkDetector(ToyTokenizer(["a"] * SIZE), scheme)
    rng = np.random.default_rng(3)
    lists = [rng.integers(SIZE, size=size) for size in (30, 9, 6, 80)]
    for alone, one in zip(
        map(detector.detect_ids, lists), detector.detect_ids_batch(lists), strict=True
    ):
        assert alone.to_dict() == one.to_dict()
        assert np.array_equal(alone.scores, one.scores, equal_nan=True)


def test_confidence_is_about_how_often_the_payload_is_right():
    """In texts so short that it is often wrong."""
    right, said = [], []
    for seed in range(60):
        payload = np.random.default_rng(seed).bytes(2)
        scheme = GumbelPayload(KEY, SIZE, payload=payload, payload_bits=16)
        ids = written(scheme, seed, 5 + 8 + seed % 12, entropy=0.5)
        found = scheme.null.read(scheme.evidence(ids).distinct())
        right.append(found.payload == payload)
        said.append(found.confidence)
    assert 0.1 < np.mean(right) < 0.95
    assert np.mean(said) == pytest.approx(np.mean(right), abs=0.15)


@pytest.mark.parametrize(
    ("given_settings", "part"),
    [
        ({"payload": b"abc"}, "payload: expected 4 bytes, or their hex digits, found 3 bytes"),
        ({"payload": "xyz"}, "payload: expected 4 bytes, .*found 'xyz'"),
        ({"payload": 7}, "payload: expected 4 bytes, .*found 7"),
        ({"payload_bits": 12}, "payload_bits: expected a multiple of 8, found 12"),
        ({"payload_bits": 72}, "payload_bits: expected an integer from 8 to 64"),
        ({"version": 1}, "version: expected 2, found 1"),
    ],
)
def test_settings_out_of_range_are_refused(given_settings, part):
    with pytest.raises(SettingsError, match=part):
        make_scheme("gumbel_payload", KEY, SIZE, **given_settings)


def test_a_writer_needs_a_payload():
    with pytest.raises(SettingsError, match="payload: expected 4 bytes to write, found none"):
        ticore.Watermarker(ticore.load_model("tiny-en"), "gumbel_payload", key=KEY)
