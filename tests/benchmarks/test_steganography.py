"""The benchmark of steganography: its figures are right, nothing is dropped, none written twice."""

import hashlib
import json
import math

import numpy as np
import pytest

import ticore
from benchmarks.steganography.__main__ import main
from benchmarks.steganography.figures import figures
from benchmarks.steganography.plan import NAIVE, Plan
from benchmarks.steganography.plot import plot
from benchmarks.steganography.samples import Samples
from benchmarks.steganography.tables import number, tables
from benchmarks.workers import written
from tests.models import ToyModel, ToyTokenizer
from ticore.errors import SettingsError

# "ab" cannot be written by pieces, so that without disambiguation texts are often misread.
LETTERS = ToyTokenizer([*"abcd", "ab", "cd"])
MODEL = ToyModel(LETTERS, seed=1, sharpness=1.0)
PROMPTS = ["ba", "ddb"]
PLAN = Plan(
    bits=16,
    top_k=(4, 6),
    disambiguations=("none", "basic", "mwis", "syncpool", "stepwise", "basic:decoded", NAIVE),
)


def write(plan, samples, model=MODEL):
    write = Samples(model, plan, PROMPTS).write
    return [write(*task) for task in plan.tasks(samples)]


def shown(found):
    """Figures as if a command had found them."""
    machine = {"processor": "any"}
    return found | {"settings": {"place": "toy", "bits": PLAN.bits}, "machine": machine}


@pytest.fixture(scope="module")
def rows():
    return write(PLAN, 8)


def test_every_method_comes_once_and_all_of_them_before_the_next_sample():
    assert len(Plan().methods) == 9
    assert len(Plan().tasks(100)) == 9 * 11 * 100
    first, second = PLAN.tasks(2)[: 11 * 2], PLAN.tasks(2)[11 * 2 :]
    assert len(set(first)) == 11 * 2
    assert [(*task[:3], 1) for task in first] == second


def test_a_sample_says_what_was_written(rows):
    for row in rows:
        prompt = LETTERS.encode(PROMPTS[row["index"] % 2])
        read = LETTERS.encode(row["text"])
        measures = row["measures"]
        assert row["failed"] is None
        assert row["text"].startswith(PROMPTS[row["index"] % 2])
        assert row["tokens_written"] >= row["tokens"] == measures["tokens"] > 0
        assert row["utilisation"] == pytest.approx(16 / (row["tokens"] * measures["entropy"]))
        parts = (measures[f"kl_{name}"] for name in ("truncation", "filter", "codec"))
        assert measures["kl"] == pytest.approx(sum(parts))
        assert 0 < row["writing"]["model_seconds"] < row["writing"]["seconds"]
        assert 0 < row["writing"]["observer_seconds"] < row["writing"]["seconds"]
        assert 0 < row["reading"]["model_seconds"] < row["reading"]["seconds"]
        known = len(read) - row["tokens_read"]
        # What lies before `known` are tokens of the prompt; one more is another, or the text's.
        assert read[:known] == prompt[:known]
        assert known == len(prompt) or read[known] != prompt[known]
        nll = 0.0
        for n in range(known, len(read)):
            logits = MODEL.logits_after(read[:n])
            nll += math.log(np.exp(logits).sum()) - logits[read[n]]
        assert row["nll_read"] == pytest.approx(nll)


def test_only_without_disambiguation_texts_are_misread(rows):
    wrong = {row["disambiguation"] for row in rows if row["wrong"]}
    assert wrong == {"none"}
    plain = [row for row in rows if row["disambiguation"] == "none"]
    assert 0 < sum(row["wrong"] is None for row in plain) < len(plain)
    for row in rows:
        if row["disambiguation"] in ("stepwise", NAIVE):
            assert (row["tokens_read"], row["nll_read"]) == (row["tokens_written"], row["nll"])


def test_retokenising_the_whole_text_changes_nothing_but_time(rows):
    texts = {}
    for row in rows:
        if row["codec"] == "arithmetic":
            key = row["top_k"], row["index"]
            texts.setdefault(row["disambiguation"], {})[key] = row["text"]
    assert texts[NAIVE] == texts["stepwise"]


def test_a_sample_follows_from_its_number(rows):
    again = Samples(MODEL, PLAN, PROMPTS).write("sparsamp", "stepwise", 6, 7)
    (before,) = [row for row in rows if row.items() >= dict(list(again.items())[:4]).items()]
    for name in ("text", "bits", "tokens", "measures", "nll", "nll_read", "wrong"):
        assert again[name] == before[name]


def test_all_methods_write_the_same_bits_under_the_same_key(monkeypatch):
    seen = []

    class Spy(ticore.Steganographer):
        def __init__(self, model, **settings):
            super().__init__(model, **settings)
            self.given = settings["key"], settings["prompt"]

        def embed_bits_report(self, bits, **how):
            seen.append((*self.given, tuple(bits)))
            return super().embed_bits_report(bits, **how)

    monkeypatch.setattr(ticore, "Steganographer", Spy)
    write(PLAN, 2)
    key = hashlib.blake2b(b"key 0 1", digest_size=32).digest()
    # Besides, a text of each kind is written to warm up.
    assert len(set(seen)) == 3
    assert sum(one[:2] == (key, "ddb") for one in seen) == 11 * 2
    assert all(len(bits) == 16 and len(set(bits)) == 2 for *_, bits in seen)


def sample(index, wrong=None, **more):
    """One of 10 bits, with simple numbers."""
    names = ("kl_truncation", "kl_filter", "kl_codec", "kl", "total_variation")
    row = {
        "codec": "arithmetic",
        "disambiguation": "none",
        "top_k": 4,
        "index": index,
        "failed": None,
        "bits": 10,
        "tokens": 5,
        "tokens_written": 6,
        "tokens_read": 4,
        "measures": {"entropy": 2.0} | dict.fromkeys(names, 0.0),
        "utilisation": 1.0,
        "nll": 6 * math.log(3),
        "nll_read": 4 * math.log(5),
        "wrong": wrong,
        "writing": {"seconds": 12.0, "model_seconds": 3.0, "observer_seconds": 3.0},
        "reading": {"seconds": 11.0, "model_seconds": 1.0},
        "peak_memory": 1000 + index,
    }
    return row | more


def test_figures_are_those_computed_by_hand():
    longer = {"tokens": 15, "tokens_written": 18, "nll": 18 * math.log(48), "nll_read": None}
    longer["utilisation"] = 0.6
    longer["measures"] = dict.fromkeys(sample(0)["measures"], 1.0)
    rows = [
        sample(0),
        sample(1, **longer),
        sample(2, "other bits"),
        sample(3, "OutsidePoolError"),
        {name: sample(4)[name] for name in ("codec", "disambiguation", "top_k", "index")}
        | {"failed": "no room"},
    ]
    found = figures(rows, [("arithmetic", "none"), ("huffman", "stepwise")], [4, 8])
    (cell,) = found["cells"]
    assert found["peak_memory"] == 1003
    assert (cell["samples"], cell["failed"]) == (5, 1)
    # A text of fifteen tokens counts no more than one of five.
    assert cell["bits_per_token"] == pytest.approx((3 * 10 / 5 + 10 / 15) / 4)
    assert cell["entropy"] == (3 * 2 + 1) / 4
    assert cell["utilisation"] == pytest.approx((3 * 1 + 0.6) / 4)
    assert cell["kl_filter"] == cell["total_variation"] == 1 / 4
    assert cell["perplexity"] == pytest.approx(6)  # the fourth root of 3 * 3 * 3 * 48
    assert cell["perplexity_read"] == pytest.approx(5)
    assert cell["wrong"] == {"other bits": 1, "OutsidePoolError": 1}
    # Clopper and Pearson's interval for 2 of 4.
    assert cell["errors"] == pytest.approx({"value": 0.5, "low": 0.0676, "high": 0.9324}, abs=1e-4)
    assert cell["writing"] == 1  # the median of 6 / 6 three times and 6 / 18
    assert cell["reading"] == (10 / 5 + 10 / 15) / 2  # of those that were read right
    assert cell["model"] == 0.5
    assert cell["tokens"] == 30 / 4


def test_figures_of_samples(rows, tmp_path):
    found = json.loads(json.dumps(shown(figures(rows, PLAN.methods, PLAN.top_k))))
    assert len(found["cells"]) == 11 * 2
    cells = {(c["codec"], c["disambiguation"], c["top_k"]): c for c in found["cells"]}
    for (codec, disambiguation, _), cell in cells.items():
        assert cell["samples"] == 8
        assert (cell["errors"]["value"] > 0) == (disambiguation == "none")
        assert (cell["kl_codec"] > 1e-6) == (codec == "huffman")
    assert cells["arithmetic", "none", 6]["kl_truncation"] == pytest.approx(0)
    assert cells["arithmetic", "none", 6]["kl_filter"] == pytest.approx(0)
    assert cells["arithmetic", "basic", 6]["kl_filter"] > 0.1
    assert cells["arithmetic", "none", 4]["kl_truncation"] > 0.1
    assert [row["top_k"] for row in found["naive"]] == [4, 6]
    first, second, third = tables(found)
    assert (first.row_count, second.row_count, third.row_count) == (12 * 7, 11 * 5, 2)
    assert "texts of 16 bits, 8 of each kind" in first.title
    pytest.importorskip("matplotlib")
    plot(found, tmp_path / "figure.svg")
    assert NAIVE in (tmp_path / "figure.svg").read_text(encoding="utf-8")


def test_figures_of_an_interrupted_run(rows):
    for count in (0, 1, 11 * 2 + 1):
        found = shown(figures(rows[:count], PLAN.methods, PLAN.top_k))
        assert len(found["cells"]) == min(count, 22)
        titles = [table.title for table in tables(found) if table.row_count]
    assert "texts of 16 bits, 1 to 2 of each kind" in titles[0]


def test_what_failed_is_shown(tmp_path):
    """No room for 16 bits behind the longer prompt with two candidates a step."""
    plan = Plan(bits=16, top_k=(2, 6), codecs=("arithmetic",), disambiguations=("stepwise",))
    rows = write(plan, 2, ToyModel(LETTERS, seed=1, sharpness=1.0, context=18))
    assert [row["failed"] is None for row in rows] == [False, True, False, True]
    assert "send a shorter message" in rows[0]["failed"]
    found = shown(figures(rows, plan.methods, plan.top_k))
    assert [(cell["samples"], cell["failed"]) for cell in found["cells"]] == [(2, 2), (2, 0)]
    table = next(iter(tables(found)))
    bits = number(found["cells"][1]["bits_per_token"])
    assert [list(column.cells)[:2] for column in table.columns[2:]] == [["2", ""], ["0", bits]]
    pytest.importorskip("matplotlib")
    plot(found, tmp_path / "figure.png")
    with pytest.raises(SettingsError, match="nothing to draw"):
        plot(found | {"cells": found["cells"][:1]}, tmp_path / "figure.png")


@pytest.mark.parametrize(
    ("value", "text"),
    [(-1e-17, "0.000"), (0.0123, "0.012"), (1.234, "1.23"), (12.34, "12.3"), (1234.6, "1,235")],
)
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


COMMAND = ["--bits", "8", "--processes", "1", "--codecs", "discop", "--disambiguations", "none"]


def test_the_same_command_goes_on(tmp_path, monkeypatch, capsys):
    """With a real model, cut off amid a line; then nothing is left to write."""
    pytest.importorskip("matplotlib")
    out, store, picture = (tmp_path / name for name in ("out.jsonl", "found.json", "figure.svg"))
    command = [*COMMAND, "--out", str(out)]
    assert main([*command, "--top-k", "64", "--samples", "1"]) == 0
    first = out.read_text().splitlines()
    assert len(first) == 2
    out.write_text("\n".join([*first, first[0][:50]]))
    command += ["--top-k", "64", "4096", "9999", "--samples", "2"]
    assert main(command) == 0
    lines = out.read_text().splitlines()
    assert lines[:2] == first
    assert len(lines) == 1 + 2 * 2 * 2
    with monkeypatch.context() as patch:
        patch.setattr("benchmarks.running.written", None)
        assert main([*command, "--json", str(store), "--plot", str(picture)]) == 0
    found = json.loads(store.read_text())
    assert found["complete"]
    assert found["settings"]["top_k"] == [64, 4096]
    assert [cell["samples"] for cell in found["cells"]] == [2, 2, 2, 2]
    assert "discop" in picture.read_text(encoding="utf-8")
    assert "errors, 95 % interval" in capsys.readouterr().out


def test_an_interrupted_run_shows_what_there_is(tmp_path, monkeypatch, capsys):
    def interrupted(tasks, *how):
        yield from written(tasks[:1], *how)
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.running.written", interrupted)
    assert main([*COMMAND, "--top-k", "64", "--out", str(tmp_path / "out.jsonl")]) == 130
    caught = capsys.readouterr()
    assert "1 of each kind" in " ".join(caught.out.split())
    assert "the same command goes on from here" in caught.err


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (["--codecs", "morse"], "unknown codec 'morse': choose one of"),
        (["--disambiguations", "basic:oracle"], "expected one of basic, basic:bytes"),
        (["--temperature", "0"], "temperature: expected a number above 0"),
        (["--model", "nowhere"], "no embedded model is called 'nowhere'"),
        (["--data", "nowhere"], "expected prompts in"),
    ],
)
def test_what_cannot_be_written_is_said_at_once(tmp_path, capsys, wrong, says):
    assert main([*COMMAND, *wrong, "--out", str(tmp_path / "out.jsonl")]) == 1
    assert says in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("option", ["--samples", "--bits", "--processes", "--top-k"])
def test_numbers_are_at_least_one(option, capsys):
    with pytest.raises(SystemExit):
        main([option, "0"])
    assert "expected a whole number of at least 1, found '0'" in capsys.readouterr().err
