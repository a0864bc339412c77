"""The measure of what disambiguation costs a step."""

from functools import partial

import numpy as np

from ticore.candidates import Pool
from ticore.disambiguation import Choices
from ticore.steganography._divergence import divergence
from ticore.steganography._step import Step

BEFORE = Pool(np.array([7, 5, 6, 9]), np.array([40, 1, 1, 0]) << 10)


def test_kl_filter_is_0_where_a_token_from_outside_takes_the_place_of_all_candidates():
    step = partial(Step, weights=None, _candidates=None, _decoder=None)
    outside = Choices.of(Pool(np.array([3]), np.array([0])))
    assert step(BEFORE, outside, _used_fallback=True).kl_filter == 0
    part = Choices.of(BEFORE.keep(slice(1, 3)))
    found = {step(BEFORE, part, _used_fallback=used).kl_filter for used in (True, False)}
    assert found == {divergence(BEFORE, part.kept)}
