"""Watermarkers, copied and pickled."""

import copy
import pickle

import pytest

import ticore

KEY = bytes(range(32))


@pytest.mark.parametrize(
    "again", [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
@pytest.mark.parametrize("scheme", ["left_hash"])
def test_a_watermarker_comes_back_as_it_was(scheme, again):
    """Also in the midst of its random numbers, if they have a seed."""
    mark = ticore.Watermarker(
        ticore.load_model("tiny-en"), scheme, key=KEY, seed=1, temperature=0.9, top_k=40
    )
    prompt = "The weather in spring is what"
    mark.generate(prompt, 12)
    back = again(mark)
    assert back.generate(prompt, 12).ids == mark.generate(prompt, 12).ids
