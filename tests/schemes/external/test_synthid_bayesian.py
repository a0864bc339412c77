"""SynthID's Bayesian score: that of transformers' detector, with exact p-values."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

import ticore
from tests.support.toy_models import ToyTokenizer
from ticore.errors import SettingsError
from ticore.schemes import external_scheme
from ticore.schemes.external import TransformersSynthID
from ticore.schemes.external._synthid_bayesian import BayesianRatios

LAYERS = 6
RNG = np.random.default_rng(0)
WEIGHTS = {
    "beta": RNG.normal(size=LAYERS).tolist(),
    "delta": RNG.normal(size=(LAYERS, LAYERS)).tolist(),
}
SYNTHID = {"keys": list(range(7, 7 + LAYERS)), "ngram_len": 3, "sampling_table_size": 1 << 14}


def test_the_probabilities_of_all_bits_sum_up_to_one():
    bits = np.array(list(product([0, 1], repeat=LAYERS)), np.int8)
    shares = np.exp(BayesianRatios(WEIGHTS, LAYERS).of_bits(bits)) / 2**LAYERS
    assert shares.sum() == pytest.approx(1)


def test_ratios_are_those_of_transformers():
    torch = pytest.importorskip("torch", reason="compares with transformers' detector")
    generation = pytest.importorskip(
        "transformers.generation.watermarking", reason="compares with transformers' detector"
    )
    config = generation.BayesianDetectorConfig(watermarking_depth=LAYERS)
    detector = generation.BayesianDetectorModel(config).double()
    inner = detector.likelihood_model_watermarked
    inner.beta.data = torch.tensor(WEIGHTS["beta"], dtype=torch.float64)[None, None]
    inner.delta.data = torch.tensor(WEIGHTS["delta"], dtype=torch.float64)[None, None]
    ratios = BayesianRatios(detector.state_dict(), LAYERS)
    for length in (2, 5, 12):
        bits = RNG.integers(2, size=(length, LAYERS)).astype(np.int8)
        mask = RNG.integers(2, size=length)
        given = torch.from_numpy(bits.astype(np.float64))[None], torch.from_numpy(mask)[None]
        expected = detector(*given, return_dict=True).posterior_probabilities.item()
        found = (ratios.of_bits(bits) * mask).sum()  # a prior of 1/2 adds nothing
        assert 1 / (1 + np.exp(-found)) == pytest.approx(expected, rel=1e-9)


def test_scores_are_the_ratios_on_a_grid():
    scheme = TransformersSynthID(**SYNTHID, bayesian=WEIGHTS)
    ids = RNG.integers(1 << 17, size=400)
    expected = BayesianRatios(WEIGHTS, LAYERS).of_bits(scheme.g_values(ids))
    found = scheme.evidence(ids).scores
    assert ((found * 4096) % 1 == 0).all()
    fitted = np.poly1d(np.polyfit(found, expected, 1))(found)
    np.testing.assert_allclose(fitted, expected, atol=2 * np.ptp(expected) / 4096)


def test_p_values_are_uniform_when_there_is_no_watermark():
    scheme = TransformersSynthID(**SYNTHID, bayesian=WEIGHTS)
    texts = np.random.default_rng(11).integers(50_000, size=(400, 60))
    p_values = [scheme.null.p_value(scheme.evidence(ids).distinct()) for ids in texts]
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_marked_text_has_a_small_p_value():
    scheme = external_scheme("synthid", SYNTHID | {"bayesian": WEIGHTS}, 500)
    rng, ids = np.random.default_rng(3), [1, 2]
    for _ in range(200):
        biased = scheme.bias(ids[-2:], np.zeros(500)) + rng.gumbel(size=500)
        ids.append(int(np.argmax(biased)))
    assert scheme.null.p_value(scheme.evidence(ids).distinct()) < 1e-6


def test_the_detector_takes_the_weights():
    detector = ticore.WatermarkDetector.for_synthid(ToyTokenizer("abcd"), SYNTHID, bayesian=WEIGHTS)
    expected = TransformersSynthID(**SYNTHID, bayesian=WEIGHTS).null.chances
    assert (detector.scheme.null.chances == expected).all()


@pytest.mark.parametrize(
    "weights",
    [
        7,
        {},
        {"beta": WEIGHTS["beta"]},
        WEIGHTS | {"beta": [0.5]},
        WEIGHTS | {"beta": "abcdef"},
        WEIGHTS | {"delta": WEIGHTS["beta"]},
        WEIGHTS | {"beta": [float("nan")] * LAYERS},
        WEIGHTS | {"delta": [[1], [1, 2]]},
        WEIGHTS | {"beta": [10**400] * LAYERS},
    ],
)
def test_wrong_weights_are_refused(weights):
    with pytest.raises(SettingsError, match=r"bayesian: expected .*found .*; give"):
        TransformersSynthID(**SYNTHID, bayesian=weights)
