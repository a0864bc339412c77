"""Transformers' SynthID: the same g-values and mean scores, and an exact p-value."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from tests.support import watermark_engines
from ticore.errors import SettingsError
from ticore.schemes.external import TransformersSynthID
from ticore.schemes.external import _synthid as synthid

GOLDENS = json.loads(watermark_engines.GOLDENS.read_text())
NAMES = pytest.mark.parametrize("name", sorted(watermark_engines.SYNTHID))
WEIGHTED = pytest.mark.parametrize("weighted", [True, False])


def scheme_of(name, weighted=True):
    return TransformersSynthID.from_config(watermark_engines.SYNTHID[name], weighted=weighted)


@NAMES
def test_g_values_are_those_of_transformers(name):
    golden = GOLDENS["synthid"][name]
    bits = scheme_of(name).g_values(golden["ids"])
    assert ["".join(map(str, row)) for row in bits.tolist()] == golden["bits"]


@NAMES
@WEIGHTED
def test_watermark_is_found_in_marked_text_alone(name, weighted):
    scheme = scheme_of(name, weighted)
    for ids, expected in ((GOLDENS["synthid"][name]["ids"], True), (GOLDENS["unmarked"], False)):
        p_value = scheme.null.p_value(scheme.evidence(ids).distinct())
        assert p_value < 1e-6 if expected else p_value > 0.01


@NAMES
@WEIGHTED
def test_mean_score_is_that_of_synthid_text(name, weighted):
    """Over the tokens that its mask leaves: the definition, written out in floats."""
    golden = GOLDENS["synthid"][name]
    bits = np.array([list(map(int, row)) for row in golden["bits"]], float)
    mask = np.array(list(map(int, golden["mask"])), float)
    depth = bits.shape[1]
    weights = np.linspace(10, 1, depth) if weighted else np.ones(depth)
    weights *= depth / weights.sum()
    expected = (bits * weights * mask[:, None]).sum() / (depth * mask.sum())
    evidence = scheme_of(name, weighted).evidence(golden["ids"]).where(mask == 1)
    assert evidence.scores.mean() == pytest.approx(expected, abs=1e-12)


@NAMES
@pytest.mark.parametrize("seed", [1, 2])
def test_g_values_are_those_of_installed_transformers(name, seed):
    pytest.importorskip("transformers", reason="compares with transformers' own g-values")
    rng = np.random.default_rng(seed)
    config = {
        **watermark_engines.SYNTHID[name],
        "keys": rng.integers(-(2**63), 2**63 - 1, 6).tolist(),
    }
    ids = rng.integers(1 << 18, size=40).tolist()
    bits, _ = watermark_engines.synthid_found(config, ids)
    assert TransformersSynthID.from_config(config).g_values(ids).tolist() == bits


def test_table_that_is_given_replaces_the_one_that_is_drawn():
    config = watermark_engines.SYNTHID["large keys"]
    seed, size = config["sampling_table_seed"], config["sampling_table_size"]
    drawn = synthid._drawn(seed, size)
    other = TransformersSynthID.from_config({**config, "sampling_table_seed": 3}, table=drawn)
    ids = GOLDENS["unmarked"]
    assert (other.g_values(ids) == scheme_of("large keys").g_values(ids)).all()


@WEIGHTED
def test_null_is_the_distribution_over_all_residues(weighted):
    keys, size = [3, 70, 9], 64
    scheme = TransformersSynthID(keys, 2, sampling_table_size=size, weighted=weighted)
    # All residues modulo 64 occur equally often among these pairs.
    scores = [scheme.evidence([0, token]).scores[0] for token in range(size)]
    units = np.rint(np.array(scores) * scheme.null.unit).astype(int)
    counts = np.bincount(units, minlength=scheme.null.unit + 1)
    assert (counts / size == scheme.null.chances).all()


@WEIGHTED
def test_p_values_are_uniform_when_there_is_no_watermark(weighted):
    scheme = TransformersSynthID(watermark_engines.KEYS, 5, weighted=weighted)
    rng = np.random.default_rng(11)
    texts = rng.integers(50_000, size=(400, 104))
    p_values = [scheme.null.p_value(scheme.evidence(ids).distinct()) for ids in texts]
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


@pytest.mark.parametrize("ids", [[], [5], [5, 6, 7, 8]])
def test_evidence_is_empty_when_the_text_is_short(ids):
    scheme = scheme_of("nine layers")
    evidence = scheme.evidence(ids)
    assert len(evidence) == 0
    assert scheme.g_values(ids).shape == (0, 9)
    assert scheme.null.p_value(evidence) == 1
    assert math.isnan(scheme.null.strength(evidence))


def test_evidence_positions_are_those_of_the_tokens():
    evidence = scheme_of("nine layers").evidence(np.arange(7, 19))
    assert evidence.positions.tolist() == list(range(4, 12))
    assert ((evidence.seeds >= 0) & (evidence.seeds < 1 << 16)).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"keys": []},
        {"keys": "123"},
        {"keys": [1 << 63]},
        {"keys": [1.5]},
        {"ngram_len": 1},
        {"sampling_table_size": 1000},
        {"sampling_table_size": 1 << 25},
        {"sampling_table_seed": 1 << 64},
        {"keys": list(range(257))},
        {"keys": list(range(65)), "sampling_table_size": 1 << 24},
        {"ngram_len": 258},
        {"table": [0, 1]},
        {"table": [2] * (1 << 16)},
        {"table": [1] * (1 << 16)},
    ],
)
def test_constructor_refuses_wrong_settings(wrong):
    with pytest.raises(SettingsError, match=r"expected .*found .*;"):
        TransformersSynthID(**{"keys": [1, 2], "ngram_len": 5, **wrong})


@pytest.mark.parametrize("config", [{"ngram_len": 5}, {"keys": [1], "ngram_len": 5, "depth": 3}])
def test_from_config_refuses_missing_and_unknown_settings(config):
    with pytest.raises(SettingsError, match=r"expected .*found .*;"):
        TransformersSynthID.from_config(config)


@pytest.mark.parametrize("ids", [[1, -1], [1 << 32], [[1, 2]], [1.0, 2.0]])
def test_evidence_refuses_wrong_ids(ids):
    with pytest.raises(SettingsError, match=r"ids: expected .*found .*;"):
        scheme_of("one layer").evidence(ids)
