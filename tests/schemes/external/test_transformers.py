"""Transformers' green lists: the same green tokens and z-scores, and what is found in texts."""

import json
from dataclasses import replace

import numpy as np
import pytest

from tests.support import watermark_engines
from tests.support.toy_models import ToyBrackets
from ticore.errors import SettingsError
from ticore.schemes._evidence import BatchEvidence
from ticore.schemes.external import TransformersKGW
from ticore.watermarking import WatermarkDetector

GOLDENS = json.loads(watermark_engines.GOLDENS.read_text())
CUDA_GOLDENS = json.loads(watermark_engines.CUDA_GOLDENS.read_text())
NAMES = pytest.mark.parametrize("name", sorted(watermark_engines.KGW))
SIZE = watermark_engines.VOCABULARY


def scheme_of(name, **more):
    return TransformersKGW.from_config(watermark_engines.KGW[name] | more, SIZE)


def drawn_on(device, name):
    """A scheme, and what transformers wrote on this device."""
    if device == "cpu":
        return scheme_of(name), GOLDENS["kgw"][name]
    return scheme_of(name, cuda_threads=CUDA_GOLDENS["threads"]), CUDA_GOLDENS["kgw"][name]


@NAMES
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_green_tokens_and_strength_are_those_of_transformers(name, device):
    scheme, golden = drawn_on(device, name)
    evidence = scheme.evidence(golden["ids"])
    assert "".join(str(int(score)) for score in evidence.scores) == golden["green"]
    assert scheme.null.strength(evidence) == pytest.approx(golden["z"], abs=1e-12)


@NAMES
@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_watermark_is_found_in_marked_text_alone(name, device):
    scheme, golden = drawn_on(device, name)
    for ids, expected in ((golden["ids"], True), (GOLDENS["unmarked"], False)):
        p_value = scheme.null.p_value(scheme.evidence(ids).distinct())
        assert p_value < 1e-6 if expected else p_value > 0.01


@pytest.mark.parametrize("scheme", ["lefthash", "selfhash"])
def test_lists_no_longer_than_the_threads_of_gpus_are_one_configuration(scheme):
    """selfhash also has a table, which is longer."""
    config = {"hashing_key": 9, "seeding_scheme": scheme, "context_width": 2}
    tokenizer, listed = ToyBrackets(["a"] * 1000), []
    for threads in (270_336, 40_960):
        listed.append({"scheme": "transformers", "config": config | {"cuda_threads": threads}})
    if scheme == "selfhash":
        assert len(WatermarkDetector.any(tokenizer, listed).names) == 2
    else:
        with pytest.raises(SettingsError, match=r"configuration 2: .*configuration 1 again"):
            WatermarkDetector.any(tokenizer, listed)


def test_list_of_configurations_names_the_device():
    config, tokenizer = {"hashing_key": 9}, ToyBrackets(["a"] * 1000)
    listed = [
        {"scheme": "transformers", "config": config},
        {"scheme": "transformers", "config": config | {"cuda_threads": 40_960}},
    ]
    names = WatermarkDetector.any(tokenizer, listed).names
    assert names == ("transformers, context 1", "transformers, GPU, context 1")


@NAMES
def test_lists_of_a_gpu_are_not_those_of_a_cpu(name):
    on_cpu, golden = scheme_of(name), drawn_on("cuda", name)[1]
    assert on_cpu.null.p_value(on_cpu.evidence(golden["ids"]).distinct()) > 0.05


@pytest.mark.parametrize("scheme", ["lefthash", "selfhash"])
def test_seeds_of_all_64_bits_read_what_they_write(scheme):
    """The products of this key are beyond 2^63, and on a GPU no bit of them is lost."""
    key = (1 << 64) - 3 if scheme == "lefthash" else -3
    settings = {"seeding_scheme": scheme, "hashing_key": key, "cuda_threads": 1024}
    made = TransformersKGW(SIZE, context_width=2, greenlist_ratio=0.5, **settings)
    biased = made.bias([7, 8][-made.context :], np.zeros(SIZE))
    tokens = range(SIZE) if scheme == "lefthash" else np.flatnonzero(biased)
    evidence = [made.evidence([7, 8, token]) for token in tokens]
    assert any((each.seeds < 0).any() for each in evidence)
    assert [each.scores[-1] for each in evidence] == (biased[tokens] > 0).tolist()


@pytest.mark.slow
@NAMES
@pytest.mark.parametrize("seed", [1, 2])
def test_green_tokens_are_those_of_installed_transformers(name, seed):
    pytest.importorskip("transformers", reason="compares with transformers' own detector")
    rng = np.random.default_rng(seed)
    vocabulary = int(rng.integers(5, 3000))
    config = {**watermark_engines.KGW[name], "greenlist_ratio": float(rng.uniform(0.21, 0.9))}
    ids = (rng.integers(vocabulary, size=60) // rng.integers(1, 50, 60)).tolist()
    scheme = TransformersKGW.from_config(config, vocabulary)
    evidence = scheme.evidence(ids)
    green, z = watermark_engines.kgw_found(config, ids, vocabulary)
    assert evidence.scores.tolist() == green
    assert scheme.null.strength(evidence) == pytest.approx(z, abs=1e-12)
    if name in ("default", "negative key"):  # with these, other n-grams are other draws
        _, z = watermark_engines.kgw_found(config, ids, vocabulary, distinct=True)
        assert scheme.null.strength(evidence.distinct()) == pytest.approx(z, abs=1e-12)


def test_evidence_positions_are_those_of_the_tokens():
    for name, config in watermark_engines.KGW.items():
        scheme = scheme_of(name)
        width = config.get("context_width", 1)
        assert scheme.context == width - (config.get("seeding_scheme") == "selfhash")
        ids = np.arange(7, 19)
        evidence = scheme.evidence(ids)
        assert evidence.positions.tolist() == list(range(scheme.context, 12))
        assert (evidence.draw_ids & 0xFFFFFFFF).tolist() == ids[scheme.context :].tolist()
        assert ((evidence.seeds >= 0) & (evidence.seeds < 1 << 32)).all()


@pytest.mark.parametrize("ids", [[], [5], [5, 6]])
def test_evidence_is_empty_when_the_text_is_short(ids):
    scheme = TransformersKGW(SIZE, context_width=2)
    evidence = scheme.evidence(ids)
    assert len(evidence) == 0
    assert scheme.null.p_value(evidence) == 1


def test_distinct_counts_equal_pairs_once():
    scheme = TransformersKGW(SIZE)
    assert len(scheme.evidence([1, 2, 1, 2, 1]).distinct()) == 2


def test_likelihood_ratios_have_mean_1():
    """Though the share that transformers counts with is not quite that of its lists."""
    for name in watermark_engines.KGW:
        scheme = scheme_of(name)
        evidence = scheme.evidence([1] * scheme.context + [2]).where(slice(1))
        scores = np.array([[0.0], [1.0]])
        red, green = (
            np.exp(
                scheme.null.likelihood_ratios(
                    BatchEvidence.of(replace(evidence, scores=score))
                ).logs
            )
            for score in scores
        )
        true_share = scheme.null.greens / scheme.null.size
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
        {"bias": 10**400},
        {"bias": 1e39},
        {"cuda_threads": 0},
        {"cuda_threads": 1000},
        {"cuda_threads": 132 * 2048.5},
        {"cuda_threads": 1 << 25},
    ],
)
def test_constructor_refuses_wrong_settings(wrong):
    with pytest.raises(SettingsError, match=r"expected .*found .*;"):
        TransformersKGW(**{"vocab_size": SIZE, **wrong})


def test_from_config_refuses_unknown_settings():
    with pytest.raises(SettingsError, match="found gamma; leave out"):
        TransformersKGW.from_config({"gamma": 0.5}, SIZE)


@pytest.mark.parametrize("ids", [[1, -1], [SIZE], [[1, 2]], [1.0, 2.0], ["a"]])
def test_evidence_refuses_wrong_ids(ids):
    with pytest.raises(SettingsError, match=r"ids: expected .*found .*;"):
        TransformersKGW(SIZE).evidence(ids)
