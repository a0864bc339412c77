"""What an analysis has found is kept: all of it, and what an interrupted run came to."""

from dataclasses import replace
from functools import partial

import pytest

from benchmarks._harness.code_digest import imported_modules
from benchmarks._harness.collect import Collector
from benchmarks.paper import low_probability, steganalysis
from benchmarks.paper.analysis import Analysis, AnalysisOptions, analysed
from benchmarks.paper.sections import Section
from benchmarks.paper.stand_ins import STAND_INS

OPTIONS = AnalysisOptions(STAND_INS["tiny-en"], seed=0)
ROWS = {"covers": [{"index": 0}]}


def squared(carried_out, interrupted_at, number):
    if number == interrupted_at:
        raise KeyboardInterrupt
    carried_out.append(number)
    return {"number": number, "square": number**2}


def squares(carried_out, interrupted_at=None, takes_encoder=False):
    def run(rows, options, collection):
        worker = partial(squared, carried_out, interrupted_at)
        found = collection.samples("squares", [(1,), (2,), (3,)], ("number",), lambda: worker)
        later = collection.samples("later", [(4,)], ("number",), lambda: worker)
        return {"found": [*found, *later]}

    run.__module__ = Section.__module__  # it imports little, of which the digest reads every file
    return Analysis(
        "squares",
        ("covers",),
        run,
        lambda found: Section("Squares", [str(found)]),
        takes_encoder,
    )


def numbers(found):
    return [each["square"] for each in found["found"]]


def test_an_interrupted_analysis_goes_on_where_it_was(tmp_path):
    carried_out = []
    found, complete = analysed(
        squares(carried_out, interrupted_at=3), ROWS, OPTIONS, tmp_path, Collector(1)
    )
    assert (numbers(found), complete) == ([1, 4], False)
    assert not (tmp_path / "results").exists()
    for _ in range(2):
        found, complete = analysed(squares(carried_out), ROWS, OPTIONS, tmp_path, Collector(1))
        assert (numbers(found), complete) == ([1, 4, 9, 16], True)
    assert carried_out == [1, 2, 3, 4]


def test_other_rows_are_analysed_anew(tmp_path):
    carried_out = []
    for rows in (ROWS, {"covers": [{"index": 1}]}):
        analysed(squares(carried_out), rows, OPTIONS, tmp_path, Collector(1))
    assert carried_out == [1, 2, 3, 4] * 2


@pytest.mark.parametrize("takes_encoder", [False, True])
def test_results_depend_on_the_encoder_where_it_is_taken(tmp_path, takes_encoder):
    (tmp_path / "encoder").mkdir()
    carried_out = []
    for encoder in (None, tmp_path / "encoder"):
        options = replace(OPTIONS, encoder=encoder)
        analysis = squares(carried_out, takes_encoder=takes_encoder)
        analysed(analysis, ROWS, options, tmp_path, Collector(1))
    assert carried_out == [1, 2, 3, 4] * (1 + takes_encoder)


@pytest.mark.parametrize("analysis", [steganalysis.ANALYSIS, low_probability.ANALYSIS])
def test_other_words_on_the_page_leave_the_results_valid(analysis):
    modules, module = imported_modules(analysis.run), analysis.run.__module__
    assert module in modules
    assert f"{module.rpartition('.')[0]}.section" not in modules
