"""The command of the benchmark of backends, with real models."""

import pytest

from benchmarks.backends.__main__ import main
from benchmarks.backends.plot import plot
from benchmarks.backends.tables import tables
from ticore.errors import SettingsError

COMMAND = [
    *("--places", "torch:tiny-en", "--codecs", "arithmetic", "--samples", 1, "--exchanged", 1),
    *("--tokens", 12, "--texts", 1, "--top-k", 16, "--rows", 2, "--rounds", 1),
    *("--processes", 1),
]


@pytest.mark.slow
def test_command_measures_all_parts_and_takes_no_sample_twice(tmp_path, run):
    pytest.importorskip("torch", reason="the Decoder is compared with transformers' generate")
    out = tmp_path / "out.jsonl"
    found = run(main, *COMMAND, "--out", out)
    assert found.status == 0
    assert found.report["complete"]
    dtypes = {row["dtype"] for row in found.report["speed"]["transformers"]}
    assert dtypes == {"float32", "float64"}
    assert [cell["misread"] for cell in found.report["exchange"]] == [0]
    assert len(found.report["robustness"]) == 4
    for title in ("Largest difference", "Messages misread", "Tokens per second, generating"):
        assert title in found.printed
    stored = out.read_text()
    assert run(main, *COMMAND, "--out", out, "--parts", "exchange").status == 0
    assert out.read_text() == stored


@pytest.mark.slow
def test_command_knows_parts_by_their_earlier_names(tmp_path, run):
    command = ["--models", "tiny-en", "--parts", "noise", "--tokens", 10]
    found = run(main, *command, "--out", tmp_path / "out.jsonl")
    assert found.status == 0
    assert found.report["settings"]["parts"] == ["differences"]
    assert found.report["differences"]


def test_tables_and_plot_show_nothing_when_nothing_was_measured(tmp_path):
    settings = {"noise_levels": [0.1]}
    report = {"differences": [], "robustness": [], "exchange": [], "speed": {}}
    report["settings"] = settings
    assert [table.row_count for table in tables(report)] == [0] * 7
    with pytest.raises(SettingsError, match="nothing to draw"):
        plot(report, tmp_path / "plot.svg")
