"""Codecs and precisions, with few and short texts of a real model."""

import pytest

from benchmarks.paper import codecs
from benchmarks.paper.codecs import plan, samples
from benchmarks.paper.low_probability.looking import Looker
from benchmarks.paper.page import write_pages
from benchmarks.paper.setting import Setting
from benchmarks.paper.stand_ins import STAND_INS
from ticore import load_model

SETTING = Setting(STAND_INS["tiny-en"], ("It was late when", "She opened the door, and"), 2)
KINDS = [("arithmetic", 64, 32), ("arithmetic", 64, 8), ("sparsamp", None, 32)]


@pytest.fixture(scope="module")
def taken():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(samples, "BITS", 40)
        worker = codecs.PART.make_worker(SETTING)
        return [worker(*kind, 0) for kind in KINDS]


@pytest.mark.slow
def test_watching_counts_what_looking_at_the_text_counts(taken):
    looker = Looker(load_model("tiny-en", dtype="float64"))
    for text in (text for sample in taken for text in sample["texts"]):
        found = looker.look(text["text"], text["ids"], None)["whole"]
        assert found["found"] == text["whole"]["found"]
        assert found["expected"] == pytest.approx(text["whole"]["expected"], abs=1e-9)
        assert text["choices"]["outside"] == 0


@pytest.mark.slow
def test_few_weight_bits_give_improbable_tokens_too_much(taken):
    all_tokens, exact, coarse = codecs.PART.summarize(codecs.PART.rows(taken, 2))["kinds"]
    assert exact["given"][0] < coarse["given"][0]
    assert all_tokens["given"][0] == pytest.approx(1, abs=0.05)
    assert exact["tokens"] == exact["whole"][0]["found"] + sum(
        text["whole"]["steps"] - text["whole"]["found"][0] for text in taken[0]["texts"]
    )


@pytest.mark.slow
def test_section_shows_each_kind(taken, tmp_path):
    summary = codecs.PART.summarize(codecs.PART.rows(taken, 1))
    summary["kinds"].append(
        {"codec": "meteor", "k": 4, "weight_bits": 8, "texts": 0, "failures": 1}
    )
    write_pages(tmp_path, [], [codecs.PART.section({SETTING.model: summary})])
    page = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert page.count("| arithmetic | 64 | 8 |") == page.count("| sparsamp | all | 32 |") == 3
    assert "1 text could not be written" in page


def test_every_kind_is_a_task_with_room_for_its_candidates():
    found = codecs.PART.tasks(SETTING, 3)
    assert len(set(found)) == len(found) == 2 * len(plan.KINDS)
    assert all(2 * (k or 262_144) <= 1 << bits for _, k, bits in plan.KINDS)
