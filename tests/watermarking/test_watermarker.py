"""Watermarks of many texts at once."""

import os
import random
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ticore
from tests.support.tiny_models import tiny_model
from tests.support.toy_models import ToyBatchModel, ToyTokenizer
from ticore.errors import PromptError
from ticore.schemes import SCHEMES, Gumbel
from ticore.watermarking import Generator, watermarked_sampler

KEY = bytes(range(32))
# Of no fewer tokens than any scheme needs.
PROMPTS = [
    "The weather in spring is what",
    "Nobody in the village had ever seen her",
    "It was " * 4,
]


@pytest.fixture(scope="module")
def model():
    return tiny_model()


def ids(texts):
    return [text.ids for text in texts]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_generate_batch_watermarks_each_text(model, scheme):
    mark = ticore.Watermarker(model, scheme, key=KEY, seed=1, end_of_text=False, observation=4)
    detector = ticore.WatermarkDetector(model.tokenizer, scheme, key=KEY)
    for text in mark.generate_batch(PROMPTS, max_new_tokens=150):
        found = detector.detect(text.text)
        assert found.verdict == "watermarked"
        assert found.ids.tolist() == list(text.ids)


@pytest.mark.slow
def test_generate_batch_writes_the_texts_of_generate_when_the_key_alone_decides(model):
    mark = ticore.Watermarker(model, "gumbel", key=KEY, version=1)
    alone = [mark.generate(prompt, max_new_tokens=40).ids for prompt in PROMPTS]
    assert ids(mark.generate_batch(PROMPTS, max_new_tokens=40)) == alone


def test_generate_batch_draws_by_seed_and_row_when_the_scheme_samples(model):
    first, second = (ticore.Watermarker(model, key=KEY, seed=1, top_k=50) for _ in range(2))
    written = ids(first.generate_batch(PROMPTS[:1] * 2, max_new_tokens=15))
    assert written[0] != written[1]
    assert (
        ids(second.generate_batch([*PROMPTS[1:2], *PROMPTS[:1]], max_new_tokens=15))[1]
        == written[1]
    )
    assert ids(first.generate_batch(PROMPTS[:1] * 2, max_new_tokens=15)) != written


def test_generate_batch_names_the_row_when_a_prompt_is_refused(model):
    mark = ticore.Watermarker(model, key=KEY)
    with pytest.raises(PromptError, match="row 1: expected a prompt of fewer than 2047 tokens"):
        mark.generate_batch(["It was", [300] * 2047])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_generate_writes_other_texts_unless_there_is_a_seed(model, scheme):
    free, fixed, again = (
        ticore.Watermarker(model, scheme, key=KEY, seed=seed) for seed in (None, 1, 1)
    )
    assert len({free.generate(PROMPTS[1], max_new_tokens=30).ids for _ in range(3)}) == 3
    assert len(set(ids(free.generate_batch(PROMPTS[1:2] * 3, max_new_tokens=30)))) == 3
    assert (
        fixed.generate(PROMPTS[1], max_new_tokens=30).ids
        == again.generate(PROMPTS[1], max_new_tokens=30).ids
    )
    pieces = "".join(fixed.stream(PROMPTS[1], max_new_tokens=30))
    assert pieces == again.generate(PROMPTS[1], max_new_tokens=30).text


_FORKED = """
import os, sys
from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore import Watermarker
from ticore.watermarking import Generator
model = ToyModel(ToyTokenizer(list("abcdefgh")), sharpness=0.0)
marks = [Watermarker(model, scheme, key=bytes(16)) for scheme in ("left_hash", "gumbel")]
ways = [lambda mark=mark: mark.generate("abc", max_new_tokens=40).ids for mark in marks]
plain = Generator(model)
ways += [lambda: marks[0].generate_batch(["abc"], max_new_tokens=40)[0].ids]
ways += [lambda: plain.generate("abc", max_new_tokens=40).ids]
ways += [lambda: plain.generate_batch(["abc"], max_new_tokens=40)[0].ids]
for way in ways:
    for child in range(2):
        if (process := os.fork()) == 0:
            print(hash(way()), flush=True)
            os._exit(0)
        os.waitpid(process, 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_generate_writes_other_texts_in_forked_processes():
    done = subprocess.run(
        [sys.executable, "-c", _FORKED], capture_output=True, text=True, check=True
    )
    found = done.stdout.split()
    assert len(found) == 10
    assert len(set(found)) == 10


def endless(ids):
    """Whether the last 60 ids repeat one stretch of at most 20."""
    tail = ids[-60:]
    return any(tail[period:] == tail[:-period] for period in range(1, 21))


@pytest.mark.slow
def test_gumbel_does_not_repeat_itself_as_version_1_does():
    """A context soon comes again where few tokens are likely; version 1 then repeats for ever."""
    model = ToyBatchModel(ToyTokenizer(list("abc")), sharpness=1.0)
    found = {}
    for version in (1, 2):
        mark = ticore.Watermarker(model, "gumbel", key=KEY, seed=1, version=version)
        texts = mark.generate_batch(["abcab", "bbbcc"], max_new_tokens=500)
        found[version] = sum(endless(text.ids) for text in texts)
    assert found == {1: 2, 2: 0}


VOCABULARIES = [
    ["a", "b", "c", "ab", "bc"],
    ["a", "z", "za", "zz"],
    ["a", "b", "c", "d"],
]


@pytest.mark.slow
@settings(max_examples=40)
@given(
    pieces=st.sampled_from(VOCABULARIES),
    prompts=st.lists(st.integers(0, 9), min_size=1, max_size=3),
    observation=st.sampled_from([None, 0, 2, 5]),
    seed=st.integers(0, 99),
    way=st.sampled_from(["one by one", "batch", "stream"]),
)
def test_gumbel_marks_what_its_detector_counts_when_tokens_are_taken_back(
    pieces, prompts, observation, seed, way
):
    model = ToyBatchModel(ToyTokenizer(pieces), seed=seed, sharpness=1.0)
    scheme, decided = Recorded(KEY, len(pieces)), random.Random(seed)
    generator = Generator(model, watermarked_sampler(scheme, decided), observation=observation)
    begins = ["a" * length for length in prompts]
    if way == "batch":
        texts = generator.generate_batch(
            begins, max_new_tokens=40, samplers=lambda row: watermarked_sampler(scheme, decided)
        )
    elif way == "stream":
        texts = [generator.stream(begin, max_new_tokens=40) for begin in begins]
        texts = [(list(text), text.result())[1] for text in texts]
    else:
        texts = [generator.generate(begin, max_new_tokens=40) for begin in begins]
    for text in texts:
        written = list(text.ids)
        counted = scheme.evidence(written).distinct().positions.tolist()
        # Whatever is marked was decided after this context by the key, if nothing was banned.
        for at in counted:
            assert tuple(written[at - 5 : at]) in scheme.contexts
    if observation is None:
        distinct = [scheme.evidence(text.ids).distinct() for text in texts]
        assert len(scheme.contexts_in_turn) == sum(map(len, distinct))


class Recorded(Gumbel):
    """Keeps the contexts that it was asked about."""

    def __init__(self, key, size):
        super().__init__(key, size)
        self.contexts_in_turn = []

    @property
    def contexts(self):
        return set(self.contexts_in_turn)

    def bias(self, context, logits):
        self.contexts_in_turn.append(tuple(context))
        return super().bias(context, logits)
