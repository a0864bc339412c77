"""Samples of the benchmark of watermarking: what they say is true."""

import math
import random

import numpy as np
import pytest

from benchmarks.watermarking.plan import ATTACKS, FULL_LENGTH, NO_ROLLBACK, ROLLBACK
from benchmarks.watermarking.samples import TextSampler
from tests.benchmarks.watermarking.toy import LETTERS, MODEL, PLAN, PROMPTS


def test_text_sampler_take_says_what_was_written_and_read(samples):
    for sample in samples:
        assert list(sample["arms"]) == [ROLLBACK, NO_ROLLBACK, FULL_LENGTH]
        for arm, text in sample["arms"].items():
            ids = LETTERS.encode(text["text"])
            assert text["read_token_count"] == len(ids)
            assert text["consistent"] or text["token_count"] > text["read_token_count"]
            assert 0 < text["model_seconds"] < text["seconds"]
            assert text["detections"].keys() == (
                set(PLAN.schemes) if sample["scheme"] == "none" else {sample["scheme"]}
            )
            assert set(text["attacks"]) == (
                set() if sample["scheme"] == "none" else {*PLAN.attacks}
            )
            if arm == ROLLBACK:
                assert text["consistent"]
                assert text["nll"] == text["nll_read"]
            else:
                assert text["rollbacks"] == 0
            if arm == FULL_LENGTH:
                assert (text["end"], text["token_count"]) == ("length", 40)
            prompt = LETTERS.encode(PROMPTS[sample["index"] % 2])
            nll = 0.0
            for n, token in enumerate(ids):
                logits = MODEL.logits_after([*prompt, *ids[:n]])
                nll += math.log(np.exp(logits).sum()) - logits[token]
            assert text["nll_read"] == pytest.approx(nll)


def test_text_sampler_take_gives_the_same_sample_again_for_the_same_task(samples):
    again = TextSampler(MODEL, PLAN, PROMPTS).take("gumbel", 4)
    (before,) = [
        sample for sample in samples if (sample["scheme"], sample["index"]) == ("gumbel", 4)
    ]
    for arm, text in again["arms"].items():
        for name in ("text", "detections", "attacks", "nll", "rollbacks"):
            assert text[name] == before["arms"][arm][name]


def test_attacks_have_the_names_they_are_chosen_by():
    for name, make in ATTACKS.items():
        assert make(MODEL, random.Random(1)).name == name
