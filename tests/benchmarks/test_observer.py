"""The observer's test: free samples are free, and what tells kinds apart is measured right."""

from random import Random

import numpy as np
import pytest

from benchmarks.observer import telling
from benchmarks.observer.__main__ import main
from benchmarks.observer.plan import SAME, SEALED, WHOLE
from benchmarks.observer.sizes import guesses
from benchmarks.observer.telling import CLASSIFIER
from benchmarks.observer.writing import UntilBits, UntilTokens
from ticore.codecs import codec_spec


@pytest.mark.slow
def test_texts_of_all_kinds_are_taken_and_compared(tmp_path, run):
    settings = ("--samples", 2, "--batch", 2, "--largest", 1, "--out", tmp_path / "x.jsonl")
    found = run(main, *settings)
    assert found.status == 0
    assert [each["texts"] for each in found.report["kinds"]] == [2, 2, 2]
    assert {test["free"] for test in found.report["tests"]} == {SAME, WHOLE}
    assert [kind["kind"] for kind in found.report["kinds"]] == [SEALED, SAME, WHOLE]
    # All messages have one size.
    assert all(row["error"]["value"] == 0 for row in found.report["sizes"] if row["size"])
    assert "0.5 is chance" in found.printed


def test_a_plain_sampler_draws_by_weight_and_counts_the_bits_of_its_choices():
    weights = np.array([1 << 31, 1 << 30, 1 << 30])
    sampler = UntilBits(Random(1), codec_spec("arithmetic").make().reader(), 3000)
    chosen = []
    while not sampler.done:
        chosen.append(sampler.choose(weights))
    shares = np.bincount(chosen, minlength=3) / len(chosen)
    np.testing.assert_allclose(shares, [0.5, 0.25, 0.25], atol=0.04)  # 2000 draws: 3.5 deviations
    carried = sum(1 if index == 0 else 2 for index in chosen)
    assert 0 <= carried - sampler.settled <= 2


def test_a_sampler_of_a_number_of_tokens_is_done_after_them():
    sampler = UntilTokens(Random(1), codec_spec("arithmetic").make().reader(), 2)
    done = []
    for _ in range(3):
        done.append(sampler.done)
        sampler.choose(np.array([1 << 31, 1 << 31]))
    assert done == [False, False, True]


STATISTICS = ("nll", "tokens", "excess_mean", "rank_above_64")
RARE = ("rarer_than_0.01", "rarer_than_0.001", "rarer_than_0.0001")


def text_of_chance(rng, index, **known):
    """A text as `observing` has it, of which no number tells anything unless `known` sets it."""
    tokens = 40
    numbers = rng.normal(size=len(STATISTICS) + len(RARE))
    return {
        "index": index,
        "text": "",
        "ids": [0] * tokens,
        "statistics": dict(zip((*STATISTICS, *RARE), numbers.tolist(), strict=True)),
        "sentence_ends": [18, 39],
        "surprisals": rng.exponential(3, tokens).tolist(),
        "excess": float(rng.normal()),
        "deviation": 1.0,
        "borderline": [],
    } | known


def classified(sealed, free):
    pytest.importorskip("sklearn")
    [found] = [one for one in telling.tests(sealed, free, seed=0) if one["name"] == CLASSIFIER]
    return found["auc"]


def test_the_classifier_finds_nothing_where_nothing_differs():
    rng = np.random.default_rng(3)
    sealed, free = ([text_of_chance(rng, n) for n in range(150)] for _ in range(2))
    assert 0.4 < classified(sealed, free)["value"] < 0.6  # three deviations


def test_the_classifier_finds_what_differs():
    rng = np.random.default_rng(4)
    free = [text_of_chance(rng, n) for n in range(100)]
    sealed = [text_of_chance(rng, n, excess=float(rng.normal() + 4)) for n in range(100)]
    assert classified(sealed, free)["low"] > 0.9


def test_the_classifier_learns_from_no_text_of_the_numbers_that_it_is_tested_on():
    """Texts of one number are alike, and tell nothing of others: to have seen them would help."""
    rng = np.random.default_rng(5)
    values = rng.permutation(200) * 10.0
    sealed = [text_of_chance(rng, n, excess=values[n] + rng.normal() / 9) for n in range(100)]
    free = [text_of_chance(rng, n, excess=values[100 + n] + rng.normal() / 9) for n in range(100)]
    found = classified(2 * sealed, 2 * free)
    assert 0.3 < found["value"] < 0.7


def test_sizes_are_learned_from_what_tells_them():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(6)
    texts = []
    for n in range(300):
        size = int(rng.integers(1, 9))
        known = {"size": size, "bits": 8 * (16 if size < 5 else 32), "excess": float(size)}
        texts.append(text_of_chance(rng, n, **known))
    found = {row["name"]: row for row in guesses(texts, seed=0)}
    assert found["the padding class itself"]["class"]["value"] == 1
    assert found["padding class and all numbers"]["size"]["value"] > 0.9
    blind = [text | {"excess": 0.0} for text in texts]
    without = {row["name"]: row for row in guesses(blind, seed=0)}
    assert without["padding class and all numbers"]["size"]["high"] < 0.5
    assert found["nothing"]["size"]["high"] < 0.3
