"""The measures of hidden messages, from texts whose measures are known."""

from dataclasses import replace

import pytest

from benchmarks.paper.messages.claims import changes
from benchmarks.paper.messages.figures import draw_bits_per_token, draw_divergence
from benchmarks.paper.messages.plan import CANDIDATES, METHODS, rows, tasks
from benchmarks.paper.messages.samples import OTHER_BITS, outcome
from benchmarks.paper.messages.section import section
from benchmarks.paper.messages.summary import FEW, PARTS, summarize
from benchmarks.paper.sections import PageTable
from benchmarks.paper.setting import Setting
from benchmarks.paper.stand_ins import LLAMA_2, STAND_INS
from ticore.errors import OutsidePoolError

TINY = STAND_INS["tiny-en"]


def text(method="stepwise", k=4, index=0, bpt=2.5, ppl=8.0, kld=0.5, error=None):
    return {
        "method": method,
        "k": k,
        "index": index,
        "text": "words",
        "bpt": bpt,
        "ppl": ppl,
        "ppl_written": 4.0,
        "kl": {"truncation": 0.5, "filter": 0.25, "codec": 0.0},
        "kld": kld,
        "error": error,
        "seconds": 2.0,
    }


def unwritten(**more):
    return text(error="CapacityError", **more) | {"text": None}


def tables(summaries):
    return {
        block.title.split(",")[0]: block
        for block in section(summaries).blocks
        if isinstance(block, PageTable)
    }


def test_tasks_of_more_samples_keep_those_of_fewer():
    setting = Setting(TINY, ("a",), batch=2)
    few, many = tasks(setting, 2), tasks(setting, 3)
    assert many[: len(few)] == few
    assert len(many) == 2 * len(few) == 2 * len(METHODS) * len(CANDIDATES)


def test_other_numbers_of_candidates_are_taken_and_change_no_sample():
    setting = Setting(TINY, ("a",), batch=2)
    chosen = replace(setting, candidates=(16, 5))
    assert tasks(chosen, 2) == [(method, k, 0) for k in (16, 5) for method in METHODS]
    assert chosen.facts() == setting.facts()
    fewer = replace(chosen, methods=("mwis", "none"))
    assert tasks(fewer, 2) == [(method, k, 0) for k in (16, 5) for method in ("mwis", "none")]
    assert fewer.facts() == setting.facts()


def test_rows_are_in_the_order_of_the_tables_without_texts_that_were_not_asked_for():
    kinds = [("stepwise", 4), ("none", 8), ("none", 4)]
    samples = [{"texts": [text(*kind, index) for index in (1, 2, 0)]} for kind in kinds]
    found = [(one["method"], one["k"], one["index"]) for one in rows(samples, 2)]
    assert found == [(*kind, index) for kind in kinds[::-1] for index in (0, 1)]


def test_outcome_says_what_went_wrong():
    assert outcome([0, 1], [0, 1]) == {"recovered": True, "error": None}
    assert outcome([0, 1], [0, 0]) == {"recovered": False, "error": OTHER_BITS}
    assert outcome([0], OutsidePoolError("x")) == {"recovered": False, "error": "OutsidePoolError"}


def test_summarize_gives_the_means_of_the_texts_that_were_written():
    found = summarize(
        [
            text("none", ppl=None, error=OTHER_BITS),
            text("none", bpt=3.5, kld=1.0),
            unwritten(method="none"),
            unwritten(method="basic"),
        ]
    )
    measured, nothing = found["cells"]
    assert (measured["text_count"], measured["failure_count"]) == (3, 1)
    assert measured["bpt"]["value"] == 3.0
    assert measured["ppl"]["value"] == 8.0
    assert measured["kld"]["value"] == 0.75
    assert measured["kl"]["filter"] == {"value": 0.25, "low": 0.25, "high": 0.25}
    assert measured["misread"]["value"] == 0.5
    assert measured["errors"] == {OTHER_BITS: 1}
    assert nothing == {"method": "basic", "k": 4, "text_count": 1, "failure_count": 1}
    assert found["groups"] == []


def test_what_is_not_known_of_a_method_has_no_mean():
    parts = {"truncation": None, "filter": 0.25, "codec": None}
    some = text("lookahead", kld=None) | {"kl": parts, "ppl_written": None}
    found = summarize([some, some])
    (cell,) = found["cells"]
    assert cell["kld"] is cell["ppl_written"] is cell["kl"]["codec"] is None
    assert cell["kl"]["filter"]["value"] == 0.25
    (shown,) = (
        one for title, one in tables({TINY: found}).items() if "number of candidates" in title
    )
    assert shown.rows[0][5:10] == ["-", "-", "-", "0.250 (0.250 to 0.250)", "-"]


def test_groups_are_of_bits_per_token_whatever_k_and_never_of_few_texts():
    texts = [text(k=4 << n % 3, bpt=3.999) for n in range(FEW + 1)]
    texts += [text(bpt=4.0)] * FEW + [text(bpt=1.9)] * 99 + [text(bpt=6.0)] * 99
    (group,) = summarize(texts)["groups"]
    assert (group["bpt_from"], group["method"], group["text_count"]) == (3, "stepwise", FEW + 1)


def test_changes_are_against_the_best_rival_of_each_group():
    groups = {
        2: {
            "none": [text(ppl=1.0)],
            "basic": [text(ppl=20.0, kld=0.4)] * 2,
            "mwis": [text(ppl=10.0, kld=0.8)] * 3,
            "stepwise": [text(ppl=9.0, kld=0.5)],
        },
        3: {"syncpool": [text(ppl=10.0)], "stepwise": [text(ppl=7.0), text(ppl=9.0)]},
        4: {"stepwise": [text()]},
        5: {"mwis": [text()]},
    }
    found = changes(groups)
    assert found["ppl"]["value"] == pytest.approx((-0.1 - 0.2) / 2)
    assert found["ppl"]["low"] == pytest.approx((-0.1 - 0.3) / 2)
    assert found["kld"]["value"] == pytest.approx((0.25 + 0.0) / 2)
    assert changes({2: {"stepwise": [text()]}}) == {"ppl": None, "kld": None}


def test_the_section_shows_the_papers_numbers_and_what_became_of_its_claims():
    texts = [text(ppl=8.0, kld=0.5)] * (FEW + 1)
    texts += [text("mwis", ppl=10.0, kld=0.4)] * (FEW + 1)
    texts += [text("none", error=OTHER_BITS), text("none"), unwritten(method="basic")]
    summaries = {TINY: summarize(texts)}
    words = " ".join(block for block in section(summaries).blocks if isinstance(block, str))
    assert "-14.12 % in the paper; with tiny-en -20.0 % (-20.0 to -20.0), which agrees" in words
    assert "with tiny-en +25.0 % (+25.0 to +25.0), which contradicts" in words
    assert "0 of 42 texts are misread; 1 more could not be written" in words
    shown = tables(summaries)
    by_method = {row[1]: row for row in shown[f"tiny-en ({LLAMA_2}): texts by bits per token"].rows}
    assert by_method["stepwise"][4] == "8.00 (8.00 to 8.00) [8.69]"
    assert by_method["stepwise"][-1] == "2.00 [5.35]"
    assert by_method["mwis"][4] == "10.0 (10.0 to 10.0)"
    without_cure = shown["Texts that are misread without a cure"]
    assert [row[1].split(" ")[0] for row in without_cure.rows] == ["50.0"]
    assert shown["How texts without a cure are misread"].rows == [[OTHER_BITS, "1"]]


def test_the_section_says_so_where_there_is_too_little():
    summaries = {TINY: summarize([text("none"), unwritten(method="stepwise")])}
    blocks = section(summaries).blocks
    assert any("too few texts to tell" in block for block in blocks if isinstance(block, str))
    (cells,) = (one for title, one in tables(summaries).items() if "number of candidates" in title)
    assert all(len(row) == len(cells.headings) for row in cells.rows)


UNKNOWN = {"truncation": None, "filter": 0.0, "codec": None}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("methods", "drawn"),
    [
        (["search", "stepwise"], ["stepwise"]),
        (["search", "stepwise, viable"], ["stepwise, viable", "search"]),
        (["lookahead", "search"], ["search"]),
    ],
)
def test_divergence_is_drawn_of_the_methods_that_were_taken(methods, drawn):
    pytest.importorskip("matplotlib")
    texts = [text(method, k) for method in methods for k in (4, 8)]
    of_lookahead = [each | {"kl": UNKNOWN} for each in texts if each["method"] == "lookahead"]
    others = [each for each in texts if each["method"] != "lookahead"]
    figure = draw_divergence({TINY: summarize([*of_lookahead, *others])})
    assert [axes.get_title() for axes in figure.axes] == drawn
    assert figure.legends


@pytest.mark.filterwarnings("error")
def test_divergence_that_is_not_known_is_not_drawn():
    pytest.importorskip("matplotlib")
    unknown = [text("lookahead", k) | {"kl": UNKNOWN} for k in (4, 8)]
    assert not draw_divergence({TINY: summarize(unknown)}).legends


def test_all_panels_of_a_row_show_the_largest_values():
    """The first panel holds the least, and the others have its scale."""
    pytest.importorskip("matplotlib")
    large = [text(k=k, bpt=9.0) | {"kl": dict.fromkeys(PARTS, 3.0)} for k in (4, 8)]
    few = summarize([text("none", k, bpt=0.5) for k in (4, 8)])
    summaries = {TINY: few, STAND_INS["smollm2"]: summarize(large)}
    assert all(axes.get_ylim()[1] >= 9.0 for axes in draw_bits_per_token(summaries).axes)
    figure = draw_divergence({TINY: summarize([text("none", 4), text("none", 8), *large])})
    assert all(axes.get_ylim()[1] >= 9.0 for axes in figure.axes)
