"""The observer's test: free samples are free, and what tells kinds apart is measured right."""

from random import Random

import numpy as np
import pytest

from benchmarks.observer.__main__ import main
from benchmarks.observer.plan import SAME, SEALED, WHOLE
from benchmarks.observer.telling import auc
from benchmarks.observer.writing import UntilBits, UntilTokens
from benchmarks.paper.steganalysis.trials import auroc
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


def test_the_area_is_that_of_all_pairs_and_its_error_that_of_drawing_again():
    rng = np.random.default_rng(1)
    high, low = rng.integers(2, 9, 300).astype(float), rng.integers(0, 8, 200).astype(float)
    area, error = auc(high, low)
    pairs = (high[:, None] > low) + (high[:, None] == low) / 2
    assert area.value == pytest.approx(pairs.mean()) == auroc(high, low)
    drawn = [auc(rng.choice(high, 300), rng.choice(low, 200))[0].value for _ in range(2000)]
    assert error == pytest.approx(np.std(drawn), rel=0.1)
    assert area.low < area.value < area.high
