"""One verifier used from several threads, and verifiers made at once in several threads."""

import random
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.support.tokenizers import TRAINED
from ticore.consistency import Verifier
from ticore.consistency._verifier import forget

THREADS = 4
TEXT = "It's what we'll do, isn't it?  Two  spaces,\n\n and 12345 naïve 日本語 🙂 don'T \t x"


@pytest.fixture(autouse=True)
def _often_switching():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def answers(verifier, seed):
    """The answers along a random walk, which returns to the text again and again."""
    draw, found = random.Random(seed), []
    ids = verifier.tokenizer.encode(TEXT)
    verification = verifier.start()
    for _ in range(12):
        for token in ids[len(verification.ids) :][: draw.randrange(1, 5)]:
            verification.push(token)
        if verification.admissible:
            some = draw.choices(ids, k=5)
            found.append((verification.ids, verification.admits(some).tolist()))
            found.append(verification.mask().tobytes())
        verification.push(draw.choice(ids))
        found.append((verification.consistent, verification.unrecoverable))
        verification.rewind(draw.randrange(1, 3))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["prefix", "viable"])
@pytest.mark.parametrize("name", ["hf-gpt2", "hf-o200k", "sp-bpe", "sp-unigram"])
def test_verifier_gives_the_same_answers_from_several_threads(name, mode):
    forget(TRAINED[name]())  # so that its caches are empty
    verifier = Verifier(TRAINED[name](), mode=mode)
    start = Barrier(THREADS)

    def walk(seed):
        start.wait()
        return answers(verifier, seed)

    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(walk, range(THREADS)))
    forget(TRAINED[name]())
    alone = Verifier(TRAINED[name](), mode=mode)
    assert together == [answers(alone, seed) for seed in range(THREADS)]


@pytest.mark.slow
def test_verifiers_are_made_in_several_threads_at_once():
    """More settings than are cached, so that threads drop what others use."""
    settings = [(mode, view) for mode in ("prefix", "open", "viable") for view in ("whole",)]
    names = ["hf-gpt2", "sp-bpe", "sp-unigram"]
    start = Barrier(THREADS)

    def make(seed):
        draw = random.Random(seed)
        start.wait()
        found = []
        for _ in range(6):
            name, (mode, view) = draw.choice(names), draw.choice(settings)
            verifier = Verifier(TRAINED[name](), mode=mode, view=view)
            found.append((verifier.method, verifier.start([]).consistent))
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        for found in pool.map(make, range(THREADS)):
            assert found == [("table", True)] * 6
