"""Watermarks of many texts at once."""

import pytest

import ticore
from ticore.errors import PromptError
from ticore.schemes import SCHEMES

KEY = bytes(range(32))
# Of no fewer tokens than any scheme needs, so that keyed noise decides from the first one on.
PROMPTS = [
    "The weather in spring is what",
    "Nobody in the village had ever seen her",
    "It was " * 4,
]


@pytest.fixture(scope="module")
def model():
    return ticore.load_model("tiny-en")


def ids(texts):
    return [text.ids for text in texts]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_each_text_has_its_watermark(model, scheme):
    mark = ticore.Watermarker(model, scheme, key=KEY, seed=1, end_of_text=False, observation=4)
    detector = ticore.WatermarkDetector(model.tokenizer, scheme, key=KEY)
    for text in mark.generate_batch(PROMPTS, tokens=100):
        found = detector.detect(text.text)
        assert found.verdict == "watermarked"
        assert found.ids.tolist() == list(text.ids)


def test_where_the_key_alone_decides_the_texts_are_the_same_as_one_by_one(model):
    mark = ticore.Watermarker(model, "gumbel", key=KEY)
    alone = [mark.generate(prompt, 40).ids for prompt in PROMPTS]
    assert ids(mark.generate_batch(PROMPTS, 40)) == alone


def test_else_the_seed_and_the_row_decide(model):
    first, second = (ticore.Watermarker(model, key=KEY, seed=1, top_k=50) for _ in range(2))
    written = ids(first.generate_batch(PROMPTS[:1] * 2, 15))
    assert written[0] != written[1]
    assert ids(second.generate_batch([*PROMPTS[1:2], *PROMPTS[:1]], 15))[1] == written[1]
    assert ids(first.generate_batch(PROMPTS[:1] * 2, 15)) != written


def test_what_is_wrong_names_the_row(model):
    mark = ticore.Watermarker(model, key=KEY)
    with pytest.raises(PromptError, match="row 1: expected a prompt of fewer than 2047 tokens"):
        mark.generate_batch(["It was", [300] * 2047])
