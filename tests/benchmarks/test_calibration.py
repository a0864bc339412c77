"""The benchmarks of p-values and of detection: they count right, and simulate nothing twice."""

import json
import math

import numpy as np
import pytest

from benchmarks.watermarking import calibration, detecting
from ticore.schemes import ExactGreens, Exponential, Greens


def test_a_run_counts_all_texts_and_the_next_one_none(tmp_path, capsys):
    given = ["--texts", "30", "--lengths", "20", "--out", str(tmp_path / "kept.jsonl")]
    given += ["--json", str(tmp_path / "found.json")]
    assert calibration.main(given) == 0
    kept = (tmp_path / "kept.jsonl").read_text()
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["complete"]
    arms = {(one["kind"], one["name"]): one for one in found["figures"]}
    for name in calibration.ARMS:
        assert arms["null", name]["texts"] == 30
        assert arms["null", name]["stretch"] == sorted(arms["null", name]["stretch"], reverse=True)
    assert {name for kind, name in arms if kind == "scheme"} == set(calibration.SCHEMES)
    assert "one list of 32,000" in capsys.readouterr().out
    assert calibration.main(given) == 0
    assert (tmp_path / "kept.jsonl").read_text() == kept


@pytest.mark.parametrize(
    ("null", "ratios"),
    [
        (Greens(0.5, 0.75), [math.log(1.5), math.log(1.5)]),
        (ExactGreens(0.5, 0.75, 5, 10), [math.log(1.5), math.log(1.5)]),
        (Exponential(), [0.5 - math.log(2), 0.5 - math.log(2)]),
    ],
)
def test_the_bound_as_it_was(null, ratios):
    """Of a text with one stretch worth its while: 0, 1, 1, 0 in scores."""
    found = calibration._ville(null, np.array([[0.0, 1.0, 1.0, 0.0]]))
    count = 10 if isinstance(null, ExactGreens) else 4
    assert found == pytest.approx([min(1.0, count * math.exp(-max(0.0, sum(ratios))))])


def test_a_draw_from_one_list_gives_as_many_greens_as_it_has():
    arm = calibration._one_list(100)
    scores = arm.draw(np.random.default_rng(1), 5, 100, 0.0)
    assert scores.sum(axis=1).tolist() == [50.0] * 5
    assert len({tuple(text) for text in scores.tolist()}) == 5


def test_speeds_are_told_for_both_ways():
    row = detecting.rates("unigram", 50, 200, 1)
    assert (row["scheme"], row["length"]) == ("unigram", 50)
    assert row["one by one"] > 0
    assert row["at once"] > 0
