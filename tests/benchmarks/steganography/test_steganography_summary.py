"""The summary of samples of steganography, its tables and its plot."""

import json
import math

import pytest

from benchmarks._harness.number_format import decimal
from benchmarks.steganography.plan import NAIVE, Plan
from benchmarks.steganography.plot import plot
from benchmarks.steganography.summary import summarize
from benchmarks.steganography.tables import tables
from tests.benchmarks.steganography.toy import LETTERS, PLAN, report_of, take_samples
from tests.support.toy_models import ToyModel
from ticore.errors import SettingsError


def sample_of_10_bits(index, misreading=None, **more):
    """A sample with simple numbers."""
    names = ("kl_truncation", "kl_filter", "kl_codec", "kl", "total_variation")
    row = {
        "codec": "arithmetic",
        "disambiguation": "none",
        "top_k": 4,
        "index": index,
        "failure": None,
        "bits": 10,
        "token_count": 5,
        "written_token_count": 6,
        "read_token_count": 4,
        "measures": {"entropy": 2.0} | dict.fromkeys(names, 0.0),
        "utilisation": 1.0,
        "nll": 6 * math.log(3),
        "nll_read": 4 * math.log(5),
        "misreading": misreading,
        "embed_times": {"seconds": 12.0, "model_seconds": 3.0, "observer_seconds": 3.0},
        "extract_times": {"seconds": 11.0, "model_seconds": 1.0},
        "peak_memory": 1000 + index,
    }
    return row | more


def test_summarize_gives_what_is_computed_by_hand():
    longer = {
        "token_count": 15,
        "written_token_count": 18,
        "nll": 18 * math.log(48),
        "nll_read": None,
    }
    longer["utilisation"] = 0.6
    longer["measures"] = dict.fromkeys(sample_of_10_bits(0)["measures"], 1.0)
    samples = [
        sample_of_10_bits(0),
        sample_of_10_bits(1, **longer),
        sample_of_10_bits(2, "other bits"),
        sample_of_10_bits(3, "OutsidePoolError"),
        {name: sample_of_10_bits(4)[name] for name in ("codec", "disambiguation", "top_k", "index")}
        | {"failure": "no room"},
    ]
    found = summarize(samples, [("arithmetic", "none"), ("huffman", "stepwise")], [4, 8])
    (cell,) = found["cells"]
    assert found["peak_memory"] == 1003
    assert (cell["sample_count"], cell["failure_count"]) == (5, 1)
    # A text of fifteen tokens counts no more than one of five.
    assert cell["bits_per_token"] == pytest.approx((3 * 10 / 5 + 10 / 15) / 4)
    assert cell["entropy"] == (3 * 2 + 1) / 4
    assert cell["utilisation"] == pytest.approx((3 * 1 + 0.6) / 4)
    assert cell["kl_filter"] == cell["total_variation"] == 1 / 4
    assert cell["perplexity"] == pytest.approx(6)  # the fourth root of 3 * 3 * 3 * 48
    assert cell["perplexity_read"] == pytest.approx(5)
    assert cell["misreadings"] == {"other bits": 1, "OutsidePoolError": 1}
    # The interval of Clopper and Pearson for 2 of 4.
    assert cell["misread_rate"] == pytest.approx(
        {"value": 0.5, "low": 0.0676, "high": 0.9324}, abs=1e-4
    )
    assert cell["embed_seconds_per_token"] == 1  # the median of 6 / 6 three times and 6 / 18
    assert (
        cell["extract_seconds_per_token"] == (10 / 5 + 10 / 15) / 2
    )  # of those that were not misread
    assert cell["model_seconds_per_token"] == 0.5
    assert cell["token_count"] == 30 / 4


@pytest.mark.slow
def test_summarize_fills_tables_and_plot(samples, tmp_path):
    found = json.loads(json.dumps(report_of(summarize(samples, PLAN.methods, PLAN.top_k))))
    assert len(found["cells"]) == 12 * 2
    cells = {(c["codec"], c["disambiguation"], c["top_k"]): c for c in found["cells"]}
    for (codec, disambiguation, _), cell in cells.items():
        assert cell["sample_count"] == 8
        assert (cell["misread_rate"]["value"] > 0) == (disambiguation == "none")
        assert (cell["kl_codec"] > 1e-6) == (codec == "huffman")
    assert cells["arithmetic", "none", 6]["kl_truncation"] == pytest.approx(0)
    assert cells["arithmetic", "none", 6]["kl_filter"] == pytest.approx(0)
    assert cells["arithmetic", "basic", 6]["kl_filter"] > 0.1
    assert cells["arithmetic", "none", 4]["kl_truncation"] > 0.1
    assert [sample["top_k"] for sample in found["naive"]] == [4, 6]
    first, second, third = tables(found)
    assert (first.row_count, second.row_count, third.row_count) == (12 * 7, 11 * 6, 2)
    assert "16 bits, 8 texts of each kind" in first.title
    pytest.importorskip("matplotlib")
    plot(found, tmp_path / "plot.svg")
    assert NAIVE in (tmp_path / "plot.svg").read_text(encoding="utf-8")


def test_summarize_counts_samples_when_a_run_was_interrupted(samples):
    for count in (0, 1, 12 * 2 + 1):
        found = report_of(summarize(samples[:count], PLAN.methods, PLAN.top_k))
        assert len(found["cells"]) == min(count, 24)
        titles = [table.title for table in tables(found) if table.row_count]
    assert "16 bits, 1 to 2 texts of each kind" in titles[0]


def test_tables_and_plot_show_what_could_not_be_written(tmp_path):
    """Two candidates per step cannot carry 16 bits after the longer prompt."""
    plan = Plan(bits=16, top_k=(2, 6), codecs=("arithmetic",), disambiguations=("stepwise",))
    samples = take_samples(plan, 2, ToyModel(LETTERS, seed=1, sharpness=1.0, context=18))
    assert [sample["failure"] is None for sample in samples] == [False, True, False, True]
    assert "send a shorter message" in samples[0]["failure"]
    found = report_of(summarize(samples, plan.methods, plan.top_k))
    assert [(cell["sample_count"], cell["failure_count"]) for cell in found["cells"]] == [
        (2, 2),
        (2, 0),
    ]
    table = next(iter(tables(found)))
    bits = decimal(found["cells"][1]["bits_per_token"])
    assert [list(column.cells)[:2] for column in table.columns[2:]] == [["2", ""], ["0", bits]]
    pytest.importorskip("matplotlib")
    plot(found, tmp_path / "plot.png")
    with pytest.raises(SettingsError, match="nothing to draw"):
        plot(found | {"cells": found["cells"][:1]}, tmp_path / "plot.png")
