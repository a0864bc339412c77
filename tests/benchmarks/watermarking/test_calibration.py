"""The calibration of p-values: it counts right, and simulates nothing twice."""

import math

import numpy as np
import pytest

from benchmarks.watermarking import calibration
from benchmarks.watermarking.score_distributions import DISTRIBUTIONS, one_list
from benchmarks.watermarking.simulation import SCHEMES, ville_bounds
from ticore.schemes import BinomialNull, ExponentialNull, HypergeometricNull


@pytest.mark.slow
def test_calibration_counts_all_texts_and_simulates_none_twice(tmp_path, run):
    out = tmp_path / "samples.jsonl"
    command = ["--texts", 30, "--lengths", 20, "--out", out]
    first = run(calibration.main, *command)
    assert first.status == 0
    assert first.report["complete"]
    entries = {(one["kind"], one["name"]): one for one in first.report["summary"]}
    for name in DISTRIBUTIONS:
        null = entries["null", name]
        assert null["text_count"] == 30
        assert null["segment"] == sorted(null["segment"], reverse=True)
    assert {name for kind, name in entries if kind == "scheme"} == set(SCHEMES)
    assert "one list of 32,000" in first.printed
    stored = out.read_text()
    assert run(calibration.main, *command).report["summary"] == first.report["summary"]
    assert out.read_text() == stored


@pytest.mark.parametrize(
    ("null", "log_ratio"),
    [
        (BinomialNull(0.5, 0.75), math.log(1.5)),
        (HypergeometricNull(0.5, 0.75, 5, 10), math.log(1.5)),
        (ExponentialNull(), 0.5 - math.log(2)),
    ],
)
def test_ville_bounds_are_those_of_the_best_segment(null, log_ratio):
    """The scores 0, 1, 1, 0 have one segment with evidence: the middle."""
    found = ville_bounds(null, np.array([[0.0, 1.0, 1.0, 0.0]]))
    count = 10 if isinstance(null, HypergeometricNull) else 4
    assert found == pytest.approx([min(1.0, count * math.exp(-max(0.0, 2 * log_ratio)))])


def test_one_list_gives_as_many_greens_as_it_has():
    scores = one_list(100).draw(np.random.default_rng(1), 5, 100, 0.0)
    assert scores.sum(axis=1).tolist() == [50.0] * 5
    assert len({tuple(text) for text in scores.tolist()}) == 5


def test_summary_names_the_p_values_that_one_text_in_100_and_in_1000_reaches():
    """Of 2,000 texts in two parts, each part stores its lowest 2 %."""
    shares = {name: [0] for name in ("whole", "segment", "ville", "verdict", "detected")}
    p_values = np.random.default_rng(1).permutation(2000) / 2000
    parts = [
        dict.fromkeys(calibration._KIND, "x")
        | shares
        | {"text_count": 1000, "lowest": np.sort(some)[:20].tolist()}
        for some in np.split(p_values, 2)
    ]
    [found] = calibration.summarize(parts)
    assert found["claimed"] == [20 / 2000, 2 / 2000]
