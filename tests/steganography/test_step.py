"""The measure of what disambiguation costs a step."""

import math
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore import Steganographer
from ticore.candidates import Pool
from ticore.disambiguation import Choices
from ticore.steganography._step import Step, divergence

NESTED = ToyTokenizer(["a", "b", "ab", "ba", "aab", "c"])
LEVELS = np.array([40, 1, 1, 0]) << 10
BEFORE = Pool(np.array([7, 5, 6, 9]), LEVELS)


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ([7, 5, 6, 9], 0.0),
        ([7], math.log2(1 + 2 * math.exp(-39) + math.exp(-40))),
        ([5, 6], math.log2((math.exp(39) + 2 + math.exp(-1)) / 2)),
    ],
)
def test_divergence_is_that_of_what_is_kept(kept, expected):
    after = BEFORE.keep(np.isin(BEFORE.ids, kept))
    assert divergence(BEFORE, after) == pytest.approx(expected, abs=1e-12)


def test_kl_filter_is_0_where_a_token_from_outside_takes_the_place_of_all_candidates():
    step = partial(Step, weights=None, _candidates=None, _decoder=None)
    outside = Choices.of(Pool(np.array([3]), np.array([0])))
    assert step(BEFORE, outside, _used_fallback=True).kl_filter == 0
    part = Choices.of(BEFORE.keep(slice(1, 3)))
    found = {step(BEFORE, part, _used_fallback=used).kl_filter for used in (True, False)}
    assert found == {divergence(BEFORE, part.kept)}


@pytest.mark.parametrize("seed", range(4))
def test_model_reads_the_text_also_where_tokens_are_taken_back(seed):
    contexts, key = [], bytes([seed]) * 32
    model = ToyModel(NESTED, seed)
    stego = Steganographer(model, key=key, prompt="c", disambiguation="lookahead")
    written = stego.embed_bits(
        [1, 0] * 32, observer=lambda step, _: contexts.append(tuple(step._decoder.ids))
    )
    read = [NESTED.decode(ids) for ids in contexts]
    assert all(written.text.startswith(text) for text in read)
    assert all(len(before) < len(after) for before, after in pairwise(read))
    assert any(after[: len(before)] != before for before, after in pairwise(contexts))
