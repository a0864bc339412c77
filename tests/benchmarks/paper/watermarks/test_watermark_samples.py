"""The part as a whole, with few and short texts."""

import pytest

from benchmarks._harness import auroc as roc
from benchmarks._harness.tables import flattened
from benchmarks.paper import watermarks
from benchmarks.paper.page import write_pages
from benchmarks.paper.setting import Setting
from benchmarks.paper.stand_ins import STAND_INS
from benchmarks.paper.watermarks import samples
from benchmarks.paper.watermarks.arms import SAMPLING, SCHEMES, UNMARKED, rollback

SETTING = Setting(STAND_INS["tiny-en"], ("It was late when", "She opened the door, and"), 2)


@pytest.fixture(scope="module")
def taken():
    """A sample of each task, with 8 tokens per text."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "LENGTH", 8)
        worker = watermarks.PART.make_worker(SETTING)
        return [worker(*task) for task in watermarks.PART.tasks(SETTING, 1)]


def test_more_samples_are_more_tasks():
    few, more = (watermarks.PART.tasks(SETTING, count) for count in (1, 5))
    assert more[: len(few)] == few
    assert len(set(more)) == 3 * len(few) == len(more)


@pytest.mark.slow
def test_every_text_is_detected_and_the_main_arms_are_attacked(taken):
    rows = watermarks.PART.rows(taken, 1)
    assert len(rows) == len(taken)  # one text of each group; the other is beyond the count
    for row in rows:
        assert row["token_count"] == 8 or row["end_of_text"]
        schemes = SCHEMES if row["scheme"] == UNMARKED else [row["scheme"]]
        assert set(row["detections"]) == set(schemes)
        main = row["arm"] in (SAMPLING.name, rollback(2).name) and row["scheme"] != UNMARKED
        assert list(row["attacks"]) == ["replacement 0.2", "replacement 0.4"] * main
        if row["arm"].startswith(("rollback", "masking")):
            assert row["consistent"]
            assert row["nll"] == row["nll_read"]
    columns = {name for row in rows for name in flattened(row)}
    assert {"scheme", "arm", "detections.gumbel.p_value", "attacks.replacement 0.2.text"} < columns


@pytest.mark.slow
def test_section_shows_every_cell(taken, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(roc, "RESAMPLINGS", 10)
    found = watermarks.PART.summarize(watermarks.PART.rows(taken, 2))
    write_pages(tmp_path, [], [watermarks.PART.section({SETTING.model: found})])
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    # Detection in the main arms of 4 schemes, with 2 attacks and without; quality of 5.
    assert page.count("| tiny-en | ") == 3 * 8 + 10 + len(SCHEMES) + 10 + 4
    assert "| tiny-en | left\\_hash | masking | 2 |" in page
    assert (tmp_path / "figures" / "watermark-observation.svg").exists()
