"""A text piece by piece, as it is written."""

import pytest

import ticore
from tests.models import ToyModel, ToyTokenizer
from ticore.watermarking import Generator

TOYS = ["a", "b", "c", "ab", "bc", "abc", "ca", "<end>"]


@pytest.fixture(scope="module")
def model():
    return ticore.load_model("tiny-en", dtype="float32")


def test_pieces_make_up_the_text():
    toy = ToyModel(ToyTokenizer(TOYS, special={7}), eos_ids={7})
    for model in (toy, ticore.load_model("tiny-en")):
        for seed in range(5):
            writing = Generator(model, seed=seed, observation=3).start("ab", 25)
            pieces = list(writing)
            assert "".join(pieces) == writing.result().text
    assert writing.result().end in ("length", "end of text")


def test_a_character_of_several_tokens_is_shown_when_it_is_complete(model):
    plan = model.tokenizer.encode("Well \U0001f642\U0001f642")
    assert len(plan) > 8  # its bytes
    chosen = iter(plan)
    writing = Generator(model, lambda ids, logits: next(chosen), observation=9).start("", len(plan))
    pieces = list(writing)
    assert "".join(pieces) == writing.result().text == "Well \U0001f642\U0001f642"
    assert all("\ufffd" not in piece for piece in pieces)
