"""What the benchmark of backends measures besides samples."""

import json

import pytest

from benchmarks.backends import random_llama
from benchmarks.backends.batches import measure_batches
from benchmarks.backends.logit_differences import logit_differences
from benchmarks.backends.speed import parallel_reading, token_cost
from ticore_embedded import BACKEND


def test_logit_differences_compares_dtypes_and_ways_to_read():
    pairs = logit_differences(["tiny-en"], "The morning was cold and the river high.", 12)
    sides = [
        (dtype, path)
        for dtype in ("float64", "float32")
        for path in ("cached", "uncached", "parallel", "batched")
    ]
    found = {
        frozenset((side["dtype"], side["path"]) for side in (pair["one"], pair["other"])): pair
        for pair in pairs
    }
    assert len(found) == len(pairs) == len(sides) * (len(sides) - 1) // 2
    for both, pair in found.items():
        exact = {dtype for dtype, _ in both} == {"float64"}
        assert pair["difference"] < (1e-9 if exact else 1e-3)
        if len({dtype for dtype, _ in both}) == 2:
            assert pair["difference"] > 1e-9


def test_token_cost_adds_up():
    found = token_cost("tiny-en", "float32", "Once", 6, 16)
    parts = [found[f"{name}_ms"] for name in ("pool", "verifier", "codec")]
    assert min(*parts, found["model_ms"]) > 0
    assert found["besides_ms"] == pytest.approx(sum(parts))
    assert found["share"] == pytest.approx(sum(parts) / (sum(parts) + found["model_ms"]))


@pytest.mark.slow
def test_parallel_reading_gives_both_speeds():
    found = parallel_reading("tiny-en", "Once", 1, rounds=1)
    assert min(found["one_by_one"], found["parallel"]) > 0


def test_measure_batches_writes_in_both_ways():
    (found,) = measure_batches(["tiny-en"], ["Once", "The old"], text_count=14, token_count=3)
    assert (found.model, found.dtype) == ("tiny-en", "float32")
    assert (found.text_count, found.token_count) == (14, 3)
    assert found.gain == pytest.approx(found.batched / found.one_by_one)
    assert 0 < found.prompt_seconds < 14 * 3 / found.batched


def test_measure_batches_counts_tokens_per_second(monkeypatch):
    """With a clock that advances by one second each time it is read."""
    seconds = iter(range(100_000))
    monkeypatch.setattr("time.perf_counter", lambda: float(next(seconds)))
    (found,) = measure_batches(["tiny-en"], ["Once"], text_count=2, token_count=3)
    # Each text reads the clock when it begins and when it ends.
    assert found.batched == 2 * 3 / 5
    assert found.one_by_one == 2 * 3 / 5


def write_llama(folder, tokenizer, *more):
    sizes = ("--width", "128", "--inner", "16", "--layers", "1", "--dtype", "float32")
    return random_llama.main([str(folder), "--tokenizer", str(tokenizer), *sizes, *more])


def test_random_llama_writes_a_model_with_its_tokenizer(tmp_path):
    for module in ("torch", "transformers"):
        pytest.importorskip(module, reason="weights are written by torch and transformers")
    tokenizer = BACKEND.folder("tiny-en") / "tokenizer.model"
    assert write_llama(tmp_path / "llama", tokenizer) == 0
    config = json.loads((tmp_path / "llama" / "config.json").read_text())
    assert (config["hidden_size"], config["num_hidden_layers"]) == (128, 1)
    assert config["vocab_size"] == 4096
    assert (tmp_path / "llama" / "tokenizer.model").read_bytes() == tokenizer.read_bytes()


def test_random_llama_refuses_a_file_that_is_no_tokenizer(tmp_path, capsys):
    assert write_llama(tmp_path, tmp_path / "tokenizer.txt") == 1
    assert "found no file that ends in .model or .json" in " ".join(capsys.readouterr().err.split())
