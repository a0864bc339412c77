"""Logits in which some ids cannot be chosen."""

import numpy as np

from tests.support.toy_models import ToyTokenizer
from ticore.watermarking._logits import mask_of, unspellable_ids, without


def test_without_returns_new_logits():
    logits = np.arange(4.0)
    assert without(logits, {1, 3}).tolist() == [0.0, -np.inf, 2.0, -np.inf]
    assert logits.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_ids_without_a_logit_are_in_no_mask():
    assert mask_of([0, 3, 9], np.zeros(4, np.float16)).tolist() == [True, False, False, True]


def test_unspellable_ids_are_special_or_have_no_token():
    tokenizer = ToyTokenizer(["a", "<end>", "b"])
    special = set(tokenizer.special_ids)
    assert unspellable_ids(tokenizer, 5) == special | {3, 4}
    assert unspellable_ids(tokenizer, 2) == special
