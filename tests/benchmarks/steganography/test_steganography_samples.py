"""Samples of the benchmark of steganography: what they say is true."""

import hashlib
import math

import numpy as np
import pytest

import ticore
from benchmarks.steganography.plan import NAIVE, Plan
from benchmarks.steganography.samples import Sampler
from tests.benchmarks.steganography.toy import LETTERS, MODEL, PLAN, PROMPTS, take_samples


def test_plan_tasks_have_each_method_once_and_all_of_them_before_the_next_sample():
    assert len(Plan().methods) == 10
    assert len(Plan().tasks(100)) == 10 * 11 * 100
    first, second = PLAN.tasks(2)[: 12 * 2], PLAN.tasks(2)[12 * 2 :]
    assert len(set(first)) == 12 * 2
    assert [(*task[:3], 1) for task in first] == second


@pytest.mark.slow
def test_sampler_take_says_what_was_written_and_read(samples):
    for sample in samples:
        prompt = LETTERS.encode(PROMPTS[sample["index"] % 2])
        read = LETTERS.encode(sample["text"])
        measures = sample["measures"]
        assert sample["failure"] is None
        assert sample["text"].startswith(PROMPTS[sample["index"] % 2])
        assert sample["written_token_count"] >= sample["token_count"] == measures["token_count"] > 0
        assert sample["utilisation"] == pytest.approx(
            16 / (sample["token_count"] * measures["entropy"])
        )
        parts = (measures[f"kl_{name}"] for name in ("truncation", "filter", "codec"))
        assert measures["kl"] == pytest.approx(sum(parts))
        assert 0 < sample["embed_times"]["model_seconds"] < sample["embed_times"]["seconds"]
        assert 0 < sample["embed_times"]["observer_seconds"] < sample["embed_times"]["seconds"]
        apart = sample["embed_times"]["model_seconds"] + sample["embed_times"]["observer_seconds"]
        assert apart < sample["embed_times"]["seconds"]
        assert 0 < sample["extract_times"]["model_seconds"] < sample["extract_times"]["seconds"]
        known = len(read) - sample["read_token_count"]
        # What lies before `known` are tokens of the prompt; one more is another, or the text's.
        assert read[:known] == prompt[:known]
        assert known == len(prompt) or read[known] != prompt[known]
        nll = 0.0
        for n in range(known, len(read)):
            logits = MODEL.logits_after(read[:n])
            nll += math.log(np.exp(logits).sum()) - logits[read[n]]
        assert sample["nll_read"] == pytest.approx(nll)


@pytest.mark.slow
def test_sampler_take_finds_misread_texts_only_when_there_is_no_disambiguation(samples):
    wrong = {sample["disambiguation"] for sample in samples if sample["misreading"]}
    assert wrong == {"none"}
    plain = [sample for sample in samples if sample["disambiguation"] == "none"]
    assert 0 < sum(sample["misreading"] is None for sample in plain) < len(plain)
    for sample in samples:
        if sample["disambiguation"] in ("stepwise", NAIVE):
            assert (sample["read_token_count"], sample["nll_read"]) == (
                sample["written_token_count"],
                sample["nll"],
            )


@pytest.mark.slow
def test_sampler_take_writes_the_same_texts_when_the_whole_text_is_retokenized(samples):
    texts = {}
    for sample in samples:
        if sample["codec"] == "arithmetic":
            key = sample["top_k"], sample["index"]
            texts.setdefault(sample["disambiguation"], {})[key] = sample["text"]
    assert texts[NAIVE] == texts["stepwise"]


def test_sampler_take_gives_the_same_sample_again_for_the_same_task(samples):
    again = Sampler(MODEL, PLAN, PROMPTS).take("sparsamp", "stepwise", 6, 7)
    task = {"codec": "sparsamp", "disambiguation": "stepwise", "top_k": 6, "index": 7}
    (before,) = [sample for sample in samples if sample.items() >= task.items()]
    for name in ("text", "bits", "token_count", "measures", "nll", "nll_read", "misreading"):
        assert again[name] == before[name]


@pytest.mark.slow
def test_sampler_take_writes_the_same_bits_with_the_same_key_for_all_methods(monkeypatch):
    seen = []

    class Spy(ticore.Steganographer):
        def __init__(self, model, **settings):
            super().__init__(model, **settings)
            self.given = settings["key"], settings["prompt"]

        def embed_bits(self, bits, **how):
            seen.append((*self.given, tuple(bits)))
            return super().embed_bits(bits, **how)

    monkeypatch.setattr(ticore, "Steganographer", Spy)
    take_samples(PLAN, 2)
    key = hashlib.blake2b(b"key 0 1", digest_size=32).digest()
    # Besides, a text of each kind is written to warm up.
    assert len(set(seen)) == 3
    assert sum(one[:2] == (key, "ddb") for one in seen) == 12 * 2
    assert all(len(bits) == 16 and len(set(bits)) == 2 for *_, bits in seen)
