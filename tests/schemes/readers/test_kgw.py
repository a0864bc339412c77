"""Transformers' green lists: bit for bit, the same z-scores, and what is found in texts."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.schemes.readers import engines
from ticore.errors import SettingsError
from ticore.schemes.evidence import Evidences
from ticore.schemes.readers import TransformersKGW
from ticore.schemes.readers.kgw import _is_green, _table

GOLDENS = json.loads(engines.GOLDENS.read_text())
NAMES = pytest.mark.parametrize("name", sorted(engines.KGW))
SIZE = engines.VOCABULARY


def reader_of(name):
    return TransformersKGW.from_config(engines.KGW[name], SIZE)


@NAMES
def test_greens_and_strength_are_those_of_transformers(name):
    reader, golden = reader_of(name), GOLDENS["kgw"][name]
    evidence = reader.evidence(golden["ids"])
    assert "".join(str(int(score)) for score in evidence.scores) == golden["green"]
    assert reader.null.strength(evidence) == pytest.approx(golden["z"], abs=1e-12)


@NAMES
def test_marked_text_is_found_and_other_text_is_not(name):
    reader = reader_of(name)
    for ids, expected in ((GOLDENS["kgw"][name]["ids"], True), (GOLDENS["unmarked"], False)):
        p_value = reader.null.p_value(reader.evidence(ids).distinct())
        assert p_value < 1e-6 if expected else p_value > 0.01


@NAMES
@pytest.mark.parametrize("seed", [1, 2])
def test_live_transformers_finds_the_same(name, seed):
    pytest.importorskip("transformers", reason="compares with transformers' own detector")
    rng = np.random.default_rng(seed)
    vocabulary = int(rng.integers(5, 3000))
    config = {**engines.KGW[name], "greenlist_ratio": float(rng.uniform(0.21, 0.9))}
    ids = (rng.integers(vocabulary, size=60) // rng.integers(1, 50, 60)).tolist()
    reader = TransformersKGW.from_config(config, vocabulary)
    evidence = reader.evidence(ids)
    green, z = engines.kgw_found(config, ids, vocabulary)
    assert evidence.scores.tolist() == green
    assert reader.null.strength(evidence) == pytest.approx(z, abs=1e-12)
    if name in ("default", "negative key"):  # with these, other n-grams are other draws
        _, z = engines.kgw_found(config, ids, vocabulary, distinct=True)
        assert reader.null.strength(evidence.distinct()) == pytest.approx(z, abs=1e-12)


@pytest.mark.parametrize(("size", "greens"), [(2, 1), (3, 2), (10, 9), (997, 1), (997, 500)])
@pytest.mark.parametrize("seed", [0, 1, 4294967295])
def test_the_greens_are_the_head_of_torchs_shuffle(size, greens, seed):
    torch = pytest.importorskip("torch", reason="compares with torch's own shuffle")
    head = torch.randperm(size, generator=torch.Generator().manual_seed(seed))[:greens].tolist()
    green = [token for token in range(size) if _is_green(seed, token, greens, size)]
    assert green == sorted(head)


def test_the_table_is_the_head_of_torchs_shuffle():
    torch = pytest.importorskip("torch", reason="compares with torch's own shuffle")
    shuffled = torch.randperm(1_000_003, generator=torch.Generator().manual_seed(15485863))
    assert _table(15485863, 3000).tolist() == shuffled[:3000].tolist()


def test_scores_stand_where_their_tokens_do():
    for name, config in engines.KGW.items():
        reader = reader_of(name)
        width = config.get("context_width", 1)
        assert reader.context == width - (config.get("seeding_scheme") == "selfhash")
        ids = np.arange(7, 19)
        evidence = reader.evidence(ids)
        assert evidence.positions.tolist() == list(range(reader.context, 12))
        assert (evidence.draws & 0xFFFFFFFF).tolist() == ids[reader.context :].tolist()
        assert ((evidence.seeds >= 0) & (evidence.seeds < 1 << 32)).all()


@pytest.mark.parametrize("ids", [[], [5], [5, 6]])
def test_short_texts_have_no_scores(ids):
    reader = TransformersKGW(SIZE, context_width=2)
    evidence = reader.evidence(ids)
    assert len(evidence) == 0
    assert reader.null.p_value(evidence) == 1


def test_equal_pairs_count_once():
    reader = TransformersKGW(SIZE)
    assert len(reader.evidence([1, 2, 1, 2, 1]).distinct()) == 2


def test_bets_are_fair():
    """Though the share that transformers counts with is not quite that of its lists."""
    for name in engines.KGW:
        reader = reader_of(name)
        evidence = reader.evidence([1] * reader.context + [2]).where(slice(1))
        scores = np.array([[0.0], [1.0]])
        red, green = (
            np.exp(reader.null.bets(Evidences.of(replace(evidence, scores=score))).ratios)
            for score in scores
        )
        true_share = reader.null.greens / reader.null.size
        assert true_share * green + (1 - true_share) * red == pytest.approx(1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"vocab_size": 1},
        {"vocab_size": 1 << 31},
        {"vocab_size": (1 << 22) + 1},
        {"greenlist_ratio": 0.0},
        {"greenlist_ratio": 1},
        {"greenlist_ratio": float("nan")},
        {"greenlist_ratio": "half"},
        {"vocab_size": 3, "greenlist_ratio": 0.25},
        {"bias": 0.0},
        {"bias": float("inf")},
        {"hashing_key": 1 << 64},
        {"hashing_key": 2.5},
        {"hashing_key": True},
        {"seeding_scheme": "simple_1"},
        {"context_width": 0},
        {"context_width": 257},
        {"bias": -(10**400)},
        {"greenlist_ratio": 10**400},
        {"hashing_key": 10**5000},
        {"context_width": 10**5000},
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(SettingsError, match=r"expected .*found .*;"):
        TransformersKGW(**{"vocab_size": SIZE, **wrong})


def test_unknown_settings_are_refused():
    with pytest.raises(SettingsError, match="found gamma; leave out"):
        TransformersKGW.from_config({"gamma": 0.5}, SIZE)


@pytest.mark.parametrize("ids", [[1, -1], [SIZE], [[1, 2]], [1.0, 2.0], ["a"]])
def test_wrong_ids_are_refused(ids):
    with pytest.raises(SettingsError, match=r"ids: expected .*found .*;"):
        TransformersKGW(SIZE).evidence(ids)
