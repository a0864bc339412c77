"""Times of verification: each method has its times, its place in the tables and in the plot."""

import json
from dataclasses import asdict

import pytest

from benchmarks.verification.plan import Plan
from benchmarks.verification.plot import plot
from benchmarks.verification.times import measure_times
from benchmarks.verification.times_tables import times_tables
from benchmarks.verification.tokenizer_sources import TokenizerSource
from tests.support.tokenizers import FRAGMENTS, TRAINED

PLAN = Plan(
    modes=("viable",),
    lengths=(5, 20),
    passages=1,
    steps=5,
    sample=64,
    loads=1,
    full_length=20,
    memory_tokens=60,
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hf-gpt2", "sp-unigram"])
def test_measure_times_fills_tables_and_plot(name, tmp_path):
    source = TokenizerSource(name, "here", TRAINED[name])
    found = {}
    measure_times(source, PLAN, {"fragments": "\n".join(FRAGMENTS)}, found)
    report = {"machine": {"processor": "any"}, "settings": asdict(PLAN), "tokenizers": [found]}
    stored = json.loads(json.dumps(report))["tokenizers"][0]
    assert stored["vocab_size"] == TRAINED[name]().vocab_size
    for in_mode in stored["modes"].values():
        assert in_mode["load"]["built"]["whole"]["median"] > 0
        assert in_mode["memory"]["used"] >= in_mode["memory"]["loaded"] > 0
        for length, here in in_mode["lengths"].items():
            assert here["table"]["mask_repeated"]["all"]["count"] <= 5
            assert here["paper"]["mask"]["median"] > 0
            assert len(here["paper"]["full"]) == (length == "20")
    assert all(table.row_count for table in times_tables(report))
    pytest.importorskip("matplotlib", reason="the plot needs matplotlib")
    plot(report, tmp_path / "plot.svg")
    assert "viable" in (tmp_path / "plot.svg").read_text(encoding="utf-8")
