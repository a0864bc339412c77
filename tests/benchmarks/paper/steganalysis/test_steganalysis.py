"""Detectors find what differs, and nothing where nothing does."""

from functools import partial

import numpy as np
import pytest

from benchmarks._harness.text_statistics import read_back
from benchmarks.paper.analysis import AnalysisOptions
from benchmarks.paper.stand_ins import STAND_INS
from benchmarks.paper.steganalysis import detecting
from benchmarks.paper.steganalysis.detectors.detector import Seen
from benchmarks.paper.steganalysis.detectors.model_statistics import Boosting
from benchmarks.paper.steganalysis.section import section
from benchmarks.paper.steganalysis.summary import accuracies, by_cell, rare_tokens
from benchmarks.paper.steganalysis.texts import BEGINNING, beginning, beginnings, whole
from benchmarks.paper.steganalysis.training import Texts, make_worker, tasks
from benchmarks.paper.steganalysis.trials import Split, balanced, measured, trained
from tests.support.tiny_models import tiny_model
from ticore.evaluation import rate

pytest.importorskip("sklearn")
torch = pytest.importorskip("torch")

from benchmarks.paper.steganalysis.detectors.networks import (  # noqa: E402  # they need torch
    LsCnn,
    NetworkDetector,
    RBiLstmC,
    SmallTransformer,
)


def texts(count, seed, marked):
    """Texts of random ids. Among the marked ones, each has the id 7 ten times."""
    rng = np.random.default_rng(seed)
    found = []
    for index in range(count):
        ids = rng.integers(8, 40, 30)
        if marked:
            ids[rng.permutation(30)[:10]] = 7
        numbers = {"tokens": 30.0, "nll": float(rng.normal() + 3 * marked)}
        found.append(Seen(index, " ".join(map(str, ids)), ids.tolist(), numbers))
    return found


DETECTORS = {
    "boosting": Boosting,
    "LS-CNN": lambda: NetworkDetector(LsCnn),
    "R-BiLSTM-C": lambda: NetworkDetector(RBiLstmC),
    "transformer": lambda: NetworkDetector(SmallTransformer),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DETECTORS)
def test_detectors_find_what_differs(name):
    hiding, covers = Split.of(texts(100, 1, True), 0), Split.of(texts(100, 2, False), 0)
    detector = trained(DETECTORS[name], hiding, covers, seed=0)
    found = measured(detector.scores(hiding.test), detector.scores(covers.test))
    assert found["accuracy"]["value"] > 0.85
    assert found["auroc"] > 0.9


@pytest.mark.slow
def test_a_seed_trains_the_same_network_again():
    hiding, covers = Split.of(texts(10, 1, True), 0), Split.of(texts(10, 2, False), 0)
    first, again = (trained(DETECTORS["LS-CNN"], hiding, covers, seed=0) for _ in range(2))
    assert again.scores(hiding.test) == pytest.approx(first.scores(hiding.test))


def test_a_detector_is_right_half_of_the_time_where_nothing_differs():
    hiding, covers = Split.of(texts(400, 1, False), 0), Split.of(texts(400, 2, False), 0)
    detector = trained(Boosting, hiding, covers, seed=0)
    found = measured(detector.scores(hiding.test), detector.scores(covers.test))
    assert found["accuracy"]["low"] < 0.5 < found["accuracy"]["high"]
    assert found["test_count"] == 80


def test_a_split_holds_each_text_once():
    every = texts(50, 0, False)
    split = Split.of(every, 3)
    assert len(split.test) == 10
    assert sorted(map(id, [*split.train, *split.test])) == sorted(map(id, every))
    assert [text.index for text in split.test] != [text.index for text in Split.of(every, 4).test]


def test_no_number_is_learned_from_and_tested_on_where_texts_are_missing():
    every = texts(100, 0, True)
    splits = [Split.of(every[:40] + every[40 + lost :], 3) for lost in range(4)]
    tested = {text.index for split in splits for text in split.test}
    assert len(tested) == 20
    assert not tested & {text.index for split in splits for text in split.train}


def test_accuracy_counts_all_covers_and_as_much_as_the_other_texts():
    found = measured(np.ones(10), np.where(np.arange(90) < 30, 0.5, -0.5))
    assert found["accuracy"]["value"] == pytest.approx((1 + 60 / 90) / 2)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_the_interval_of_a_mean_holds_it_in_19_of_20_trials(share):
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(400):
        one, other = rng.binomial(20, share), rng.binomial(110, 0.7)
        found = balanced(rate(int(one), 20), rate(int(other), 110))
        held += found.low <= (share + 0.7) / 2 <= found.high
    assert held >= 380


def found_of(hiding, covers):
    """What boosting on the texts as a whole finds."""
    seen = {"whole": Texts(hiding, covers)}
    train = make_worker(seen, {"model": partial(Boosting, ["nll"])}, 0)
    return accuracies([train(*task) for task in tasks(seen, {"model": ("whole",)}, 0)])


def test_every_cell_is_tested_alone_and_together():
    hiding = {("none", 4): texts(120, 1, True), ("none", 8): texts(120, 2, False)}
    found = found_of(hiding, texts(240, 3, False))
    alone = {entry["k"]: entry["accuracy"] for entry in found["alone"]}
    assert alone[4]["low"] > 0.7
    assert alone[8]["low"] < 0.5 < alone[8]["high"]
    assert [entry["method"] for entry in found["pooled"]] == ["all", "none", "none"]


def test_all_texts_together_are_tested_as_those_of_each_cell():
    hiding = {("none", 4): texts(120, 1, True), ("none", 8): texts(60, 2, False)}
    every, *cells = found_of(hiding, texts(240, 3, False))["pooled"]
    counts = [cell["test_count"] for cell in cells]
    assert every["test_count"] == sum(counts)
    mean = np.average([cell["accuracy"]["value"] for cell in cells], weights=counts)
    assert every["accuracy"]["value"] == pytest.approx(mean)


def test_trainings_on_all_texts_come_first():
    hiding = {("none", 4): texts(120, 1, True), ("none", 8): texts(20, 2, False)}
    seen = {part: Texts(hiding, texts(240, 3, False)) for part in ("whole", "beginnings")}
    found = tasks(seen, {"length": ("whole",), "network": ("whole", "beginnings")}, 0)
    assert found == [
        ("whole", "length", "all", 0),
        ("whole", "network", "all", 0),
        ("beginnings", "network", "all", 0),
        ("whole", "length", "none", 4),
        ("whole", "network", "none", 4),
        ("beginnings", "network", "none", 4),
    ]


@pytest.mark.parametrize("seed", range(8))
def test_one_text_is_nothing_to_learn_from(seed):
    """Some seeds hold it out, and some learn from it."""
    seen = {"whole": Texts({("none", 4): texts(1, 1, True)}, texts(20, 3, False))}
    assert tasks(seen, {"model": ("whole",)}, seed) == []


@pytest.mark.parametrize("counts", [(0, 20), (20, 0), (1, 1)])
def test_nothing_is_said_where_no_text_is_held_out(counts):
    messages, covers = counts
    found = found_of({("none", 4): texts(messages, 1, True)}, texts(covers, 3, False))
    assert found == {"pooled": [], "alone": []}


@pytest.fixture(scope="module")
def model():
    return tiny_model()


def row(model, text, **kind):
    prompt = "It was a bright"
    return {
        "index": 0,
        "prompt": prompt,
        "text": prompt + text,
        "read": read_back(model, prompt, prompt + text),
    } | kind


LONG = " cold day in April, and the clocks were striking thirteen. Nobody was at home."


def test_a_beginning_is_what_the_model_says_of_the_first_tokens(model):
    long = row(model, LONG)
    found = beginning(model, long)
    assert found.ids == long["read"]["ids"][:BEGINNING]
    assert LONG.startswith(found.text)
    alone = row(model, found.text)
    assert found == whole(alone)


def test_a_beginning_tells_nothing_of_where_the_text_ends(model):
    assert beginning(model, row(model, LONG)) == beginning(model, row(model, LONG + " The end."))


def test_a_short_text_has_no_beginning(model):
    assert beginning(model, row(model, " day.")) is None


def test_rows_without_a_text_are_not_seen(model):
    rows = [row(model, " day.", method="none", k=4), {"method": "none", "k": 4, "read": None}]
    assert by_cell(rows) == {("none", 4): rows[:1]}


def test_section_has_tables_of_what_was_tested(model):
    hiding = {("none", 4): texts(20, 1, True)}
    found = found_of(hiding, texts(20, 3, False))
    rare = rare_tokens({("none", 4): [row(model, LONG)]}, [row(model, LONG)])
    blocks = section(
        {
            STAND_INS["tiny-en"]: {
                "whole": found,
                "beginnings": found,
                "rare": rare,
                "short_count": 0,
            }
        }
    ).blocks
    tables = [block for block in blocks if not isinstance(block, str)]
    kinds = [
        word for table in tables for word in ("whole", "first", "small") if word in table.title
    ]
    assert kinds == ["whole", "first", "small"]  # none of detectors of one kind of texts
    assert [row[0] for row in tables[-1].rows] == ["covers", "none"]


def test_section_has_the_means_of_each_method_over_its_candidates():
    def entry(method, k, detector, value):
        share = {"value": value, "low": 0, "high": 1}
        return {"method": method, "k": k, "detector": detector, "accuracy": share}

    pooled = [
        *(entry("all", 0, "model", 0.9), entry("all", 0, "network", 0.8)),
        *(entry("none", 4, "model", 0.5), entry("none", 8, "model", 0.6)),
        *(entry("none", 4, "network", 0.7), entry("basic", 8, "model", 0.4)),
        *(entry("mwis", 4, "network", 0.2), entry("mwis", 8, "network", 0.4)),
        *(entry("mwis", 4, "model", 0.3), entry("mwis", 8, "model", 0.7)),
    ]
    nothing = {"pooled": [], "alone": []}
    whole_texts = {"pooled": pooled, "alone": []}
    found = {"whole": whole_texts, "beginnings": nothing, "rare": [], "short_count": 0}
    blocks = section({STAND_INS["tiny-en"]: found}).blocks
    means = next(block for block in blocks if not isinstance(block, str))
    assert means.title.endswith("the mean over k")
    assert means.headings == ["method", "model", "network"]
    assert means.rows == [
        ["all", "90.0 (0.0 to 100.0)", "80.0 (0.0 to 100.0)"],
        ["none", "55.0", "-"],  # the network has not tried each k
        ["basic", "40.0", "-"],
        ["mwis", "50.0", "30.0"],
    ]


def test_texts_that_an_interrupted_run_has_not_come_to_are_not_short(model):
    rows = [row(model, text, method="none", k=4) for text in (LONG, " day.")]
    cells = {("none", 4): rows, ("none", 8): rows}

    class Interrupted:
        def samples(self, kind, tasks, names, make_worker):
            return [beginnings(model, dict(cells), "none", 4)]

    options = AnalysisOptions(STAND_INS["tiny-en"], seed=0)
    begun, short = detecting._beginnings(cells, rows, options, Interrupted())
    assert (list(begun.hiding), begun.covers, short) == ([("none", 4)], [], 1)


def test_section_says_how_many_texts_have_no_beginning():
    nothing = {"pooled": [], "alone": []}
    found = {"whole": nothing, "beginnings": nothing, "rare": [], "short_count": 0}
    said = " ".join(map(str, section({STAND_INS["tiny-en"]: found}).blocks))
    assert "All texts have as many, so what is found there is the method's." in said
    said = " ".join(map(str, section({STAND_INS["tiny-en"]: found | {"short_count": 12}}).blocks))
    assert "Texts with fewer are left out (12 of tiny-en); as long as" in said


def test_the_interval_of_no_improbable_token_is_that_of_independent_ones(model):
    rows = [row(model, LONG, method="none", k=4) for _ in range(5)]
    for each in rows:
        each["read"]["statistics"] |= {
            "tokens": 20,
            "rarer_than_1e-05": 0.0,
            "rarer_than_0.01": 0.5,
        }
    _, found = rare_tokens({("none", 4): rows}, rows)
    none, half = found["rarer_than_1e-05"], found["rarer_than_0.01"]
    assert (none["value"], none["low"]) == (0.0, 0.0)
    assert none["high"] == pytest.approx(rate(0, 100).high)
    assert half["low"] <= rate(50, 100).low < 0.5 < rate(50, 100).high <= half["high"]
