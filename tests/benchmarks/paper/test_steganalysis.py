"""Detectors find what differs, and nothing where nothing does."""

import numpy as np
import pytest

from benchmarks.paper.stand_ins import STAND_INS
from benchmarks.paper.statistics import RARE
from benchmarks.paper.steganalysis.detectors.detector import Seen
from benchmarks.paper.steganalysis.detectors.model_statistics import Boosting
from benchmarks.paper.steganalysis.section import section
from benchmarks.paper.steganalysis.summary import steps, summarize
from benchmarks.paper.steganalysis.trials import Split, auroc, measured, trained

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
    for _ in range(count):
        ids = rng.integers(8, 40, 30)
        if marked:
            ids[rng.permutation(30)[:10]] = 7
        numbers = {"tokens": 30.0, "nll": float(rng.normal() + 3 * marked)}
        found.append(Seen(" ".join(map(str, ids)), ids.tolist(), numbers))
    return found


def row(text, **kind):
    rare = {f"rarer_than_{bound:g}": 0.0 for bound in RARE}
    return {
        "read": {"text": text.text, "ids": text.ids, "statistics": text.statistics | rare}
    } | kind


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
    found = measured(detector, hiding.test, covers.test)
    assert found["accuracy"]["value"] > 0.85
    assert found["auroc"] > 0.9


@pytest.mark.slow
def test_a_seed_trains_the_same_network_again():
    hiding, covers = Split.of(texts(10, 1, True), 0), Split.of(texts(10, 2, False), 0)
    first, again = (trained(DETECTORS["LS-CNN"], hiding, covers, seed=0) for _ in range(2))
    assert again.scores(hiding.test) == pytest.approx(first.scores(hiding.test))


def test_a_detector_is_right_half_of_the_time_where_nothing_differs():
    hiding, covers = Split.of(texts(400, 1, False), 0), Split.of(texts(400, 2, False), 0)
    found = measured(trained(Boosting, hiding, covers, seed=0), hiding.test, covers.test)
    assert found["accuracy"]["low"] < 0.5 < found["accuracy"]["high"]
    assert found["test_count"] == 80


def test_a_split_holds_each_text_once():
    every = texts(50, 0, False)
    split = Split.of(every, 3)
    assert len(split.test) == 10
    assert sorted(map(id, [*split.train, *split.test])) == sorted(map(id, every))


def test_auroc_counts_equal_values_half():
    assert auroc(np.array([1.0, 1.0]), np.array([1.0])) == 0.5
    assert auroc(np.array([2.0]), np.array([1.0, 0.0])) == 1.0


def test_summarize_tests_every_cell_alone_and_together():
    messages = [row(text, method="none", k=4) for text in texts(120, 1, True)]
    messages += [row(text, method="none", k=8) for text in texts(120, 2, False)]
    covers = [row(text) for text in texts(240, 3, False)]
    advanced = []
    detectors = {"the model itself": lambda: Boosting(["nll"])}
    found = summarize(messages, covers, detectors, 0, advanced.append)
    assert len(advanced) == steps(messages, detectors)
    alone = {entry["k"]: entry["accuracy"] for entry in found["alone"]}
    assert alone[4]["low"] > 0.7
    assert alone[8]["low"] < 0.5 < alone[8]["high"]
    assert [entry["method"] for entry in found["pooled"]] == ["all", "none", "none"]
    shown = section({STAND_INS["tiny-en"]: found})
    assert any("tiny-en" in block.title for block in shown.blocks if not isinstance(block, str))


def test_section_has_no_table_of_detectors_that_had_too_few_texts():
    messages = [row(text, method="none", k=4) for text in texts(20, 1, True)]
    detectors = {"the model itself": lambda: Boosting(["nll"])}
    covers = [row(text) for text in texts(20, 3, False)]
    found = summarize(messages, covers, detectors, 0, lambda trained: None)
    blocks = section({STAND_INS["tiny-en"]: found}).blocks
    titles = [block.title for block in blocks if not isinstance(block, str)]
    assert [("together" in title, "small probability" in title) for title in titles] == [
        (True, False),
        (False, True),
    ]
