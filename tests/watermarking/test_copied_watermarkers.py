"""Watermarkers, copied and pickled."""

import copy
import pickle

import pytest

import ticore

KEY = bytes(range(32))


@pytest.mark.slow
@pytest.mark.parametrize(
    "again", [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
@pytest.mark.parametrize("scheme", ["left_hash"])
def test_a_watermarker_comes_back_as_it_was(scheme, again):
    """Also in the midst of its random numbers, if they have a seed."""
    model = ticore.load_model("tiny-en")
    # The end of a text is special: a prompt with one is refused but where it is a boundary.
    chat = [*model.tokenizer.encode("It was late."), *model.eos_ids]
    mark = ticore.Watermarker(
        model,
        scheme,
        key=KEY,
        seed=1,
        temperature=0.9,
        top_k=40,
        view="whole",
        specials="gaps",
    )
    prompt = "The weather in spring is what"
    mark.generate(prompt, max_new_tokens=12)
    back = again(mark)
    for each in (prompt, chat):
        assert (
            back.generate(each, max_new_tokens=12).ids == mark.generate(each, max_new_tokens=12).ids
        )
