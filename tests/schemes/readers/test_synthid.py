"""Transformers' SynthID: bit for bit, the mean scores, and an honest p-value."""

import json
import math

import numpy as np
import pytest
from scipy import stats

from tests.schemes.readers import engines
from ticore.errors import SettingsError
from ticore.schemes.readers import TransformersSynthID, synthid

GOLDENS = json.loads(engines.GOLDENS.read_text())
NAMES = pytest.mark.parametrize("name", sorted(engines.SYNTHID))
WEIGHTED = pytest.mark.parametrize("weighted", [True, False])


def reader_of(name, weighted=True):
    return TransformersSynthID.from_config(engines.SYNTHID[name], weighted=weighted)


@NAMES
def test_bits_are_those_of_transformers(name):
    golden = GOLDENS["synthid"][name]
    bits = reader_of(name).g_values(golden["ids"])
    assert ["".join(map(str, row)) for row in bits.tolist()] == golden["bits"]


@NAMES
@WEIGHTED
def test_marked_text_is_found_and_other_text_is_not(name, weighted):
    reader = reader_of(name, weighted)
    for ids, expected in ((GOLDENS["synthid"][name]["ids"], True), (GOLDENS["unmarked"], False)):
        p_value = reader.null.p_value(reader.evidence(ids).distinct())
        assert p_value < 1e-6 if expected else p_value > 0.01


@NAMES
@WEIGHTED
def test_the_mean_score_is_that_of_synthid_text(name, weighted):
    """Over the tokens that its mask leaves: the definition, written out in floats."""
    golden = GOLDENS["synthid"][name]
    bits = np.array([list(map(int, row)) for row in golden["bits"]], float)
    mask = np.array(list(map(int, golden["mask"])), float)
    depth = bits.shape[1]
    weights = np.linspace(10, 1, depth) if weighted else np.ones(depth)
    weights *= depth / weights.sum()
    expected = (bits * weights * mask[:, None]).sum() / (depth * mask.sum())
    evidence = reader_of(name, weighted).evidence(golden["ids"]).where(mask == 1)
    assert evidence.scores.mean() == pytest.approx(expected, abs=1e-12)


@NAMES
@pytest.mark.parametrize("seed", [1, 2])
def test_live_transformers_finds_the_same(name, seed):
    pytest.importorskip("transformers", reason="compares with transformers' own g-values")
    rng = np.random.default_rng(seed)
    config = {**engines.SYNTHID[name], "keys": rng.integers(-(2**63), 2**63 - 1, 6).tolist()}
    ids = rng.integers(1 << 18, size=40).tolist()
    bits, _ = engines.synthid_found(config, ids)
    assert TransformersSynthID.from_config(config).g_values(ids).tolist() == bits


def test_a_table_given_takes_the_place_of_the_one_drawn():
    config = engines.SYNTHID["large keys"]
    seed, size = config["sampling_table_seed"], config["sampling_table_size"]
    drawn = synthid._drawn(seed, size)
    other = TransformersSynthID.from_config({**config, "sampling_table_seed": 3}, table=drawn)
    ids = GOLDENS["unmarked"]
    assert (other.g_values(ids) == reader_of("large keys").g_values(ids)).all()


@WEIGHTED
def test_a_tokens_distribution_is_that_over_all_residues(weighted):
    keys, size = [3, 70, 9], 64
    reader = TransformersSynthID(keys, 2, sampling_table_size=size, weighted=weighted)
    # All residues modulo 64 occur equally often among these pairs.
    scores = [reader.evidence([0, token]).scores[0] for token in range(size)]
    units = np.rint(np.array(scores) * reader.null.unit).astype(int)
    counts = np.bincount(units, minlength=reader.null.unit + 1)
    assert (counts / size == reader.null.chances).all()


@WEIGHTED
def test_p_values_of_other_texts_are_uniform(weighted):
    reader = TransformersSynthID(engines.KEYS, 5, weighted=weighted)
    rng = np.random.default_rng(11)
    texts = rng.integers(50_000, size=(400, 104))
    p_values = [reader.null.p_value(reader.evidence(ids).distinct()) for ids in texts]
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


@pytest.mark.parametrize("ids", [[], [5], [5, 6, 7, 8]])
def test_short_texts_have_no_scores(ids):
    reader = reader_of("nine layers")
    evidence = reader.evidence(ids)
    assert len(evidence) == 0
    assert reader.g_values(ids).shape == (0, 9)
    assert reader.null.p_value(evidence) == 1
    assert math.isnan(reader.null.strength(evidence))


def test_scores_stand_where_their_tokens_do():
    evidence = reader_of("nine layers").evidence(np.arange(7, 19))
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
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(SettingsError, match=r"expected .*found .*;"):
        TransformersSynthID(**{"keys": [1, 2], "ngram_len": 5, **wrong})


@pytest.mark.parametrize("config", [{"ngram_len": 5}, {"keys": [1], "ngram_len": 5, "depth": 3}])
def test_missing_and_unknown_settings_are_refused(config):
    with pytest.raises(SettingsError, match=r"expected .*found .*;"):
        TransformersSynthID.from_config(config)


@pytest.mark.parametrize("ids", [[1, -1], [1 << 32], [[1, 2]], [1.0, 2.0]])
def test_wrong_ids_are_refused(ids):
    with pytest.raises(SettingsError, match=r"ids: expected .*found .*;"):
        reader_of("one layer").evidence(ids)
