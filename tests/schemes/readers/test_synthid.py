"""Transformers' SynthID: bit for bit, the mean scores, and an honest p-value."""

import json
import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from tests.schemes.readers import engines
from ticore.errors import SettingsError
from ticore.schemes.evidence import Evidence
from ticore.schemes.readers import TransformersSynthID, synthid
from ticore.schemes.readers.synthid import TableBits

GOLDENS = json.loads(engines.GOLDENS.read_text())
NAMES = pytest.mark.parametrize("name", sorted(engines.SYNTHID))
WEIGHTED = pytest.mark.parametrize("weighted", [True, False])


def reader_of(name, weighted=True):
    return TransformersSynthID.from_config(engines.SYNTHID[name], weighted=weighted)


def evidence_of(scores, seeds=None):
    scores = np.array(scores, float)
    places = np.arange(len(scores))
    return Evidence(places, places if seeds is None else np.array(seeds), places, scores)


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


@pytest.mark.parametrize("seeds", [[0, 1, 2, 3], [0, 0, 2, 3], [0, 1, 1, 1], [7, 7, 7, 7]])
def test_p_values_are_those_of_trying_everything(seeds):
    null = TableBits(np.array([0.3, 0.0, 0.45, 0.2, 0.05]))
    _, groups = np.unique(seeds, return_inverse=True)
    chance_of: dict[int, float] = {}
    for values in product(range(5), repeat=groups.max() + 1):
        total = sum(values[group] for group in groups)
        chance = math.prod(null.chances[value] for value in values)
        chance_of[total] = chance_of.get(total, 0) + chance
    for total in range(17):
        tail = sum(chance for other, chance in chance_of.items() if other >= total)
        scores = [min(4, total - 4 * place) / 4 if total > 4 * place else 0 for place in range(4)]
        assert null.p_value(evidence_of(scores, seeds)) == pytest.approx(tail, rel=1e-9)


def test_small_tails_are_exact():
    null = TableBits(np.array([0.5, 0.5]))
    for ones in (150, 180, 200):
        evidence = evidence_of([1] * ones + [0] * (200 - ones))
        expected = stats.binom.sf(ones - 1, 200, 0.5)
        assert null.p_value(evidence) == pytest.approx(expected, rel=1e-6)
        assert null.strength(evidence) == pytest.approx((ones - 100) / math.sqrt(50))


def test_long_texts_are_judged_nearly_exactly(monkeypatch):
    reader = reader_of("nine layers")
    rng = np.random.default_rng(5)
    evidence = reader.evidence(rng.integers(50_000, size=1604)).distinct()
    for lift in (-0.01, 0.0, 0.01, 0.02, 0.04):
        units = np.clip(evidence.scores + lift, 0, 1) * reader.null.unit
        moved = Evidence(
            evidence.positions, evidence.seeds, evidence.draws, np.rint(units) / reader.null.unit
        )
        exact = reader.null.p_value(moved)
        with monkeypatch.context() as patch:
            patch.setattr(synthid, "_MOST_EXACT", 0)
            assert reader.null.p_value(moved) == pytest.approx(exact, rel=0.01)


@WEIGHTED
def test_p_values_of_other_texts_are_uniform(weighted):
    reader = TransformersSynthID(engines.KEYS, 5, weighted=weighted)
    rng = np.random.default_rng(11)
    texts = rng.integers(50_000, size=(400, 104))
    p_values = [reader.null.p_value(reader.evidence(ids).distinct()) for ids in texts]
    assert stats.kstest(p_values, "uniform").pvalue > 0.001


def test_log_ratio_is_a_fair_bet():
    for name in engines.SYNTHID:
        null = reader_of(name).null
        scores = np.arange(null.unit + 1) / null.unit
        assert null.chances @ np.exp(null.log_ratio(scores)) == pytest.approx(1)


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
