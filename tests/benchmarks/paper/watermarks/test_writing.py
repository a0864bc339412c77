"""Masking is rollback without observation, and attacks side by side are those of one text."""

import random

import pytest

from benchmarks.paper.watermarks.arms import MASKING, SAMPLING, arms_of, main_arms, rollback
from benchmarks.paper.watermarks.attacking import replace_together
from benchmarks.paper.watermarks.writing import writer
from tests.support.toy_models import ToyBatchModel, ToyBrackets, ToyTokenizer
from ticore.evaluation import Replacement
from ticore.watermarking import greedy, multinomial

TOYS = [
    ToyTokenizer(["a", "b", "ab", "ba", "c", "aba"]),
    ToyBrackets(["a", "<", ">", "?", "a>", "<a"]),
]


@pytest.mark.parametrize("tokenizer", TOYS)
def test_masking_writes_what_rollback_without_observation_writes(tokenizer):
    """A sampler that always makes the same choice leaves no room for chance."""
    differ = 0
    for seed in range(8):
        model = ToyBatchModel(tokenizer, seed=seed)
        prompts = [[0], [0, 1], [3]]
        masked, rolled, free = (
            [text.ids for text in writer(model, arm)(prompts, lambda row: greedy, 20)]
            for arm in (MASKING, rollback(0), SAMPLING)
        )
        assert masked == rolled
        differ += masked != free
    assert differ


def test_masking_keeps_sampled_texts_consistent():
    model = ToyBatchModel(TOYS[0], seed=3, sharpness=0.5)
    draws = [random.Random(n) for n in range(20)]
    write = writer(model, MASKING)
    texts = write([[0]] * 20, lambda row: multinomial(draws[row]), 30)
    assert all(text.consistent and len(text.ids) == 30 for text in texts)
    assert len({text.ids for text in texts}) == 20


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.0])
def test_replace_together_gives_what_replacement_gives_for_each_text(epsilon):
    tokenizer = ToyTokenizer(["a", "b", "ab", "ba", "c", "x", "y"], special=[5])
    model = ToyBatchModel(tokenizer, seed=1, sharpness=1.0, width=9, eos_ids=[6])
    texts = ["abacab" * 3, "c", "", "bababbaca"]
    prompts = [tokenizer.encode(text) for text in ("ab", "c", "a", "abc")]
    together, alone = (
        [
            Replacement(model, epsilon, random.Random(n), prompt=prompt)
            for n, prompt in enumerate(prompts)
        ]
        for _ in range(2)
    )
    found = replace_together(model, together, texts)
    assert found == [attack(text) for attack, text in zip(alone, texts, strict=True)]


def test_every_scheme_has_the_main_arms_and_one_has_all():
    assert arms_of("gumbel", 10) == main_arms(10) == (rollback(10), SAMPLING)
    names = [arm.name for arm in arms_of("left_hash", 10)]
    assert len(set(names)) == len(names) == 12
    assert {f"rollback, q = {q}" for q in (0, 1, 2, 3, 5, 10, 20)} < set(names)
    assert {"rollback of the whole text"} < set(names)
    assert {"masking", "no rollback, may end", "rollback, q = 10, may end"} < set(names)
