"""vLLM's watermark of two keys: scores as its detector gives them, exact p-values."""

from importlib.util import find_spec

import numpy as np
import pytest

import ticore
from tests.support.toy_models import ToyTokenizer
from ticore.errors import SettingsError
from ticore.schemes import external_scheme
from ticore.schemes.external import VLLMDualKeyGumbel, VLLMGumbel

# What DualKeyGumbelWatermarkDetector of vLLM 0.32 gave for different ids below 2000, drawn by
# `numpy.random.default_rng(0).permutation(2000)[:n]`, one list after the other.
GOLDEN = [
    (42, 4, 0.1, 40, 35.810226833037255, 0.7613381403856397),
    (43, 2, 0.5, 30, 27.898364057940054, 0.6958666984173946),
    ((1 << 64) - 1, 5, 0.75, 25, 24.31049038718866, 0.5490279376292775),
    (7, 4, 0.0, 20, 13.972062987555471, 0.9246306587989785),
    (7, 4, 1.0, 20, 28.46709692184227, 0.04008901791209863),
]


def test_scores_are_those_of_vllm_and_its_p_values_are_close():
    rng = np.random.default_rng(0)
    for key, width, alpha, count, score, p_value in GOLDEN:
        ids = rng.permutation(2000)[:count].tolist()
        scheme = VLLMDualKeyGumbel(key, alpha=alpha, context_width=width)
        evidence = scheme.evidence([-1] * width + ids)
        assert evidence.scores.sum() == pytest.approx(score, rel=1e-9)
        # vLLM's distribution is exact where one weight is 0 or both are equal.
        error = 1e-9 if alpha in (0, 0.5, 1) else 0.03
        assert scheme.null.p_value(evidence) == pytest.approx(p_value, rel=error)


@pytest.mark.skipif(find_spec("vllm") is None, reason="vllm is not installed")
def test_scores_are_those_of_the_installed_vllm():
    from vllm.v1.watermarking import gumbel  # noqa: PLC0415  # not always there

    rng = np.random.default_rng(1)
    for number in range(200):
        key, width = int(rng.integers(2**63)), int(rng.integers(1, 9))
        alpha = float(rng.choice([0.1, 0.3, 0.5, 0.9]))
        ids = rng.permutation(5000)[: rng.integers(5, 80)].tolist()
        theirs = gumbel.DualKeyGumbelWatermarkDetector(key, width, alpha=alpha).detect(ids)
        scheme = VLLMDualKeyGumbel(key, alpha=alpha, context_width=width)
        evidence = scheme.evidence([-1] * width + ids)
        assert evidence.scores.sum() == pytest.approx(theirs.score, rel=1e-9), number


def test_texts_of_either_key_are_found_and_texts_without_a_mark_are_not():
    rng = np.random.default_rng(3)
    keys = VLLMGumbel.of_two_keys(5, context_width=2)
    scheme = VLLMDualKeyGumbel(5, alpha=0.25, context_width=2)
    ids = rng.integers(500, size=2).tolist()
    for _ in range(80):
        key = keys[int(rng.random() < 0.25)]
        rivals = rng.permutation(500)[:20].tolist()  # tokens that are about as likely
        ids.append(max(rivals, key=lambda token: key.evidence([*ids[-2:], token]).scores[0]))
    assert scheme.null.p_value(scheme.evidence(ids).distinct()) < 1e-12
    other = VLLMDualKeyGumbel(6, alpha=0.25, context_width=2)
    assert other.null.p_value(other.evidence(ids).distinct()) > 0.01


def test_the_engines_settings_choose_the_algorithm():
    config = {"key": 7, "algorithm": "dual_key_gumbel", "alpha": 0.3, "context_width": 2}
    found = external_scheme("vllm", config, 100)
    assert isinstance(found, VLLMDualKeyGumbel)
    ids = list(range(20))
    expected = VLLMDualKeyGumbel(7, alpha=0.3, context_width=2).evidence(ids).scores
    assert (found.evidence(ids).scores == expected).all()
    detector = ticore.WatermarkDetector.for_vllm(ToyTokenizer("abcd"), config)
    assert detector.detect_ids([0, 1, 2, 3, 0, 2] * 3).p_value > 1e-5


@pytest.mark.parametrize(
    "config",
    [
        {"algorithm": "dual_key_gumbel"},
        {"key": 1, "algorithm": "gumbel"},
        {"key": 1, "algorithm": "sbw"},
        {"key": 1, "alpha": -0.1},
        {"key": 1, "alpha": 1.5},
        {"key": 1, "alpha": "0.1"},
        {"key": 1, "alpha": True},
        {"key": 1, "alpha": False},
        {"key": 1 << 64},
        {"key": 1, "salt": 2},
    ],
)
def test_from_config_refuses_wrong_settings(config):
    config.setdefault("algorithm", "dual_key_gumbel")
    with pytest.raises(SettingsError, match=r"expected .*found .*;"):
        VLLMDualKeyGumbel.from_config(config)
