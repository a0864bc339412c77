"""The analysis, from rows of other parts to the page."""

import json
from dataclasses import replace

import pytest

from benchmarks._harness.collect import Collector
from benchmarks.paper import low_probability
from benchmarks.paper.analysis import AnalysisOptions, analysed
from benchmarks.paper.page import write_pages
from benchmarks.paper.stand_ins import STAND_INS
from ticore import load_model

MODEL = STAND_INS["tiny-en"]
PROMPT = "It was late when"
CONTINUED = PROMPT + " the old man came home, and nobody was there."


def rows():
    tokenizer = load_model("tiny-en", dtype="float64").tokenizer
    shared = len(tokenizer.encode(PROMPT))
    row = {"text": CONTINUED, "read": {"ids": tokenizer.encode(CONTINUED)[shared:]}}
    row["read"]["statistics"] = {"tokens": 1}
    unread = {"text": None, "read": None}
    messages = [row | {"method": "stepwise", "k": k} for k in (4, 512)]
    messages.append(unread | {"method": "stepwise", "k": 4})
    return {"covers": [row], "messages": messages}


@pytest.mark.slow
def test_section_shows_each_kind_under_both_distributions(tmp_path):
    options = AnalysisOptions(MODEL, 0)
    found, complete = analysed(low_probability.ANALYSIS, rows(), options, tmp_path, Collector(1))
    assert complete
    stored = tmp_path / "results" / "low-probability-tiny-en.json"
    assert json.loads(stored.read_text()) == found
    covers, few, many = found["kinds"]
    assert (covers["method"], covers["k"], "pool" in covers) == ("covers", None, False)
    assert covers["whole"] == few["whole"] == many["whole"]
    assert few["texts"] == covers["texts"] == 1
    assert few["outside"]["value"] > many["outside"]["value"]
    assert few["pool"][0]["expected"] < many["pool"][0]["expected"] < covers["whole"][0]["expected"]
    write_pages(tmp_path, [], [low_probability.ANALYSIS.section({replace(MODEL): found})])
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert page.count("| stepwise | 512 |") == 2
    assert page.count("| covers |") == 1
    assert "tiny-en, comparisons with the candidates:" in page
