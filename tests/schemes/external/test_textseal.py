"""TextSeal's watermarks: scores and p-values as its own detectors give them."""

import numpy as np
import pytest
from scipy import stats

import ticore
from tests.support.toy_models import ToyTokenizer
from ticore.errors import SettingsError
from ticore.schemes import external_scheme
from ticore.schemes.external import TextSealGumbel

# What TextSeal's hash (textseal/watermarking/core.py) and its detectors' formulas gave for the ids
# `numpy.random.default_rng(0).permutation(2000)[:40]`: sums of scores and p-values.
GOLDEN = [
    ("gumbelmax", 1, 42, 0.5, 47.33889390528202, 0.09628906106703108),
    ("gumbelmax", 4, -987654321, 0.5, 29.58473346196115, 0.8607750808906398),
    ("textseal", 2, 1 << 61, 0.5, 30.7289998405613, 0.9598806829367702),
    ("textseal", 3, 7, 0.25, 33.26685498014558, 0.7764785336643416),
]


@pytest.mark.parametrize(("kind", "ngram", "key", "alpha", "score", "p_value"), GOLDEN)
def test_scores_and_p_values_are_those_of_textseal(kind, ngram, key, alpha, score, p_value):
    ids = np.random.default_rng(0).permutation(2000)[:40].tolist()
    scheme = TextSealGumbel(key, watermark_type=kind, ngram=ngram, mixing_alpha=alpha)
    evidence = scheme.evidence(ids)
    assert evidence.scores.sum() == pytest.approx(score, rel=1e-5)  # float32 there
    error = 0.01 if alpha == 0.25 else 1e-4  # an approximation there where weights differ
    assert scheme.null.p_value(evidence) == pytest.approx(p_value, rel=error)


@pytest.mark.parametrize("kind", ["gumbelmax", "textseal"])
def test_p_values_are_uniform_over_keys(kind):
    """The hash has 8,191 values and is close to linear: see that its numbers act as independent."""
    rng = np.random.default_rng(1)
    ids = (rng.zipf(1.2, size=400) % 5000).tolist()  # as in text, some tokens are frequent
    p_values = []
    for key in rng.integers(1 << 40, size=400).tolist():
        scheme = TextSealGumbel(key, watermark_type=kind)
        p_values.append(scheme.null.p_value(scheme.evidence(ids).distinct()))
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_the_second_key_is_the_first_one_and_an_offset_where_none_is_given():
    ids = np.random.default_rng(2).integers(1000, size=30)
    found = TextSealGumbel(7, watermark_type="textseal").evidence(ids)
    given = TextSealGumbel(7, watermark_type="textseal", secret_key_b=7 + 12345).evidence(ids)
    assert (found.scores == given.scores).all()


def test_a_second_key_of_zero_is_a_key() -> None:
    ids = np.random.default_rng(2).integers(1000, size=30)
    both = TextSealGumbel(7, watermark_type="textseal", secret_key_b=0).evidence(ids)
    first, second = (TextSealGumbel(key).evidence(ids).scores for key in (7, 0))
    assert both.scores == pytest.approx((first + second) / 2)


def test_from_config_takes_the_settings_of_a_watermark_config():
    config = {"secret_key": 5, "watermark_type": "textseal", "ngram": 2, "gamma": 0.5, "depth": 30}
    found = external_scheme("textseal", config, 100)
    assert isinstance(found, TextSealGumbel)
    assert (found.context, found.greedy) == (2, False)
    detector = ticore.WatermarkDetector.for_textseal(ToyTokenizer("abcd"), config)
    assert detector.detect_ids([0, 1, 2, 3, 1, 0]).scored == 4


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"secret_key": 1 << 63},
        {"secret_key": 1.5},
        {"secret_key": 1, "watermark_type": "greenlist"},
        {"secret_key": 1, "ngram": 0},
        {"secret_key": 1, "ngram": 11},
        {"secret_key": 1, "watermark_type": "textseal", "mixing_alpha": 0},
        {"secret_key": 1, "watermark_type": "textseal", "secret_key_b": "x"},
        {"secret_key": 1, "salt": 2},
    ],
)
def test_from_config_refuses_wrong_settings(config):
    with pytest.raises(SettingsError, match=r"expected .*found .*;"):
        TextSealGumbel.from_config(config)


@pytest.mark.parametrize("ids", [[-1, 1, 2], [1 << 32, 1, 2], [[1]]])
def test_evidence_refuses_wrong_ids(ids):
    with pytest.raises(SettingsError, match=r"ids: expected .*found .*;"):
        TextSealGumbel(1).evidence(ids)


def test_two_equal_keys_are_one():
    """Their scores are equal, not independent, and a sum of two has the distribution of one."""
    ids = np.random.default_rng(1).integers(0, 3000, size=60).tolist()
    one = TextSealGumbel(7)
    two = TextSealGumbel(7, watermark_type="textseal", secret_key_b=7)
    p_values = [scheme.null.p_value(scheme.evidence(ids)) for scheme in (one, two)]
    assert p_values[0] == p_values[1]
