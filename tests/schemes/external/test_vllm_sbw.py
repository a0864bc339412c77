"""vLLM's Bernoulli watermark: the green tokens of its writer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ticore.errors import SettingsError
from ticore.schemes import external_scheme
from ticore.schemes._evidence import BatchEvidence
from ticore.schemes.external import VLLMBernoulli

# Which of 64 ids are green for the writer of pull request 56859, `_sbw_selfhash_inner` and
# `_sbw_lefthash_inner`, run on a CPU: each after a reply that begins with them.
IDS = np.random.default_rng(7).integers(5000, size=64).tolist()
GOLDEN = [
    ("selfhash", 4, 42, 0.5, "0011111101111010010111101001111001001111010001011110101011011110"),
    ("lefthash", 1, 42, 0.5, "0011101001000000101000010110000001101100010101101111101001011001"),
    (
        *("selfhash", 1, (1 << 63) - 1, 0.25),
        "0000000100110100000100101000001001111010001011000001001010000000",
    ),
    (
        *("lefthash", 3, 12345678901, 0.25),
        "0000100000000101010001100100100010011010000001110011100000000110",
    ),
]


@pytest.mark.parametrize(("seeding", "width", "key", "gamma", "green"), GOLDEN)
def test_green_tokens_are_those_of_the_writer(seeding, width, key, gamma, green):
    scheme = VLLMBernoulli(key, sbw_scheme=seeding, sbw_gamma=gamma, context_width=width)
    evidence = scheme.evidence([-1] * width + IDS)
    assert "".join(str(int(score)) for score in evidence.scores) == green


def test_a_token_has_the_same_draw_wherever_its_seed_is_the_same():
    """With selfhash and a width of 1 the seed is that of the token alone."""
    scheme = VLLMBernoulli(5, context_width=1)
    assert len(scheme.evidence([-1, 3, 7, 3, 9, 3, 7]).distinct()) == 3


@pytest.mark.parametrize("seeding", ["selfhash", "lefthash"])
@pytest.mark.parametrize("gamma", [0.25, 0.5])
def test_p_values_without_a_mark_are_valid(seeding, gamma):
    rng = np.random.default_rng(1)
    found = []
    for key in rng.integers(1 << 63, size=800).tolist():
        scheme = VLLMBernoulli(key, sbw_scheme=seeding, sbw_gamma=gamma)
        ids = (rng.zipf(1.3, size=120) % 300).tolist()  # with many repetitions
        found.append(scheme.null.p_value(scheme.evidence(ids).distinct()))
    for threshold in (0.01, 0.1, 0.5):
        count = sum(p_value <= threshold for p_value in found)
        assert stats.binomtest(count, len(found), threshold, "greater").pvalue > 1e-3


@settings(max_examples=10)
@given(width=st.integers(1, 6), seed=st.integers(0, 1000))
def test_marked_text_is_found(width, seed):
    rng = np.random.default_rng(seed)
    scheme = VLLMBernoulli(seed, context_width=width)
    ids = rng.integers(2000, size=width).tolist()
    for _ in range(60):
        choice = rng.integers(2000, size=4).tolist()
        ids.append(max(choice, key=lambda token: scheme.evidence([*ids[-width:], token]).scores[0]))
    assert scheme.null.p_value(scheme.evidence(ids).distinct()) < 1e-4


@pytest.mark.parametrize(("gamma", "delta"), [(0.9995, 1.0), (0.5, 0.0), (0.001, 90.0)])
def test_ratios_are_numbers_for_all_settings(gamma, delta):
    scheme = VLLMBernoulli(1, sbw_gamma=gamma, sbw_delta=delta)
    evidence = BatchEvidence.of(scheme.evidence(range(40)))
    assert 0 < scheme.null.marked_share < 1
    assert np.isfinite(scheme.null.likelihood_ratios(evidence).logs).all()


def test_the_engines_settings_choose_the_algorithm():
    config = {"key": 7, "algorithm": "sbw", "sbw_scheme": "lefthash", "sbw_delta": 3.0}
    found = external_scheme("vllm", config, 100)
    assert isinstance(found, VLLMBernoulli)
    assert found.context == 1
    expected = VLLMBernoulli(7, sbw_scheme="lefthash").evidence(IDS).scores
    assert (found.evidence(IDS).scores == expected).all()
    assert VLLMBernoulli.from_config({"key": 7}).context == 4


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"key": 1 << 63},
        {"key": -1},
        {"key": 1, "sbw_scheme": "minhash"},
        {"key": 1, "sbw_scheme": []},
        {"key": 1, 1: 2},
        {"key": 1, "sbw_gamma": 0},
        {"key": 1, "sbw_gamma": 1e-10},  # no token would be green
        {"key": 1, "sbw_gamma": 1},
        {"key": 1, "sbw_delta": -1},
        {"key": 1, "sbw_delta": 10**400},
        {"key": 1, "sbw_delta": 1e39},
        {"key": 1, "context_width": 0},
        {"key": 1, "algorithm": "gumbel"},
        {"key": 1, "salt": 2},
    ],
)
def test_from_config_refuses_wrong_settings(config):
    with pytest.raises(SettingsError, match=r"expected .*found .*;"):
        VLLMBernoulli.from_config(config)


@pytest.mark.parametrize("ids", [[-2, 1, 2, 3, 4], [1, 2, 3, 4, -1], [1 << 31, 1, 2, 3, 4], [[1]]])
def test_evidence_refuses_wrong_ids(ids):
    with pytest.raises(SettingsError, match=r"ids: expected .*found .*;"):
        VLLMBernoulli(1).evidence(ids)
