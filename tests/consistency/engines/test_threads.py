"""Several threads that verify with one tokenizer get the answers that one thread gets."""

import time

import pytest

from tests.support.sample_texts import PASSAGES
from tests.support.threads import THREADS, run_together
from tests.support.tokenizers import TRAINED
from ticore._support.caches import BoundedCache
from ticore.consistency import Verifier
from ticore.consistency import _verifier as verifier

KINDS = {
    "pretokenized BPE": ("hf-cl100k-nfc", {}),
    "pretokenized BPE, whole parts": ("hf-ignore-merges", {"mode": "open"}),
    "unsplit BPE": ("sp-bpe", {}),
    "unsplit BPE, normalized": ("sp-bpe-nfkc", {"mode": "viable"}),
    "unigram": ("sp-unigram-nfkc", {"mode": "viable"}),
    "channel": ("hf-gpt2", {"channel": "spaces"}),
    "stable cuts": ("hf-gpt2", {"method": "suffix"}),
}
TEXTS = [*PASSAGES.values(), "an an  an\n\nan", "aあ é e\u0301 !"]


def answers(made, number):
    """All answers of a verifier along a text, with tokens that do not belong there."""
    tokenizer, found = made.tokenizer, []
    ids = tokenizer.encode(TEXTS[number % len(TEXTS)])[:40]
    some = sorted({*ids, *range(3, tokenizer.vocab_size, 31)})
    masks = made.method == "table"
    text = made.start()
    for at, token in enumerate(ids):
        for pushed in (some[at % len(some)], token):
            if text.admissible:
                found.append(text.admits(some).tolist())
                found.append(text.mask().tolist() if masks else None)
            text.push(pushed)
            found.append((text.admissible, text.consistent, text.unrecoverable))
            if pushed != token:
                text.rewind(1)
    return found


@pytest.fixture
def small_caches(monkeypatch):
    """Caches of two values: the threads push each other's out."""
    true = BoundedCache.__init__
    monkeypatch.setattr(BoundedCache, "__init__", lambda self, size: true(self, 2))


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.usefixtures("small_caches")
def test_verifiers_answer_rightly_when_threads_share_their_engine(kind):
    name, settings = KINDS[kind]
    tokenizer = TRAINED[name]()
    verifier.forget(tokenizer)
    expected = [answers(Verifier(tokenizer, **settings), number) for number in range(THREADS)]
    verifier.forget(tokenizer)
    found = run_together(lambda number: answers(Verifier(tokenizer, **settings), number))
    verifier.forget(tokenizer)  # whose caches are small
    assert found == expected


@pytest.mark.slow
def test_verifiers_answer_rightly_when_each_thread_has_its_own_tokenizer():
    """More of them than the verifier remembers."""
    names = [name for name, _ in KINDS.values()]

    def work(number):
        return answers(Verifier(TRAINED[names[number % len(names)]]()), number)

    expected = [work(number) for number in range(THREADS)]
    for name in names:
        verifier.forget(TRAINED[name]())
    assert run_together(work) == expected


def test_verifier_builds_its_engine_once_when_threads_ask_together(monkeypatch):
    built, true = [], verifier.table_engine

    def slow(oracle):
        built.append(oracle)
        time.sleep(0.05)
        return true(oracle)

    monkeypatch.setattr(verifier, "table_engine", slow)
    tokenizer = TRAINED["hf-gpt2"]()
    verifier.forget(tokenizer)
    assert [made.method for made in run_together(lambda n: Verifier(tokenizer))] == [
        "table"
    ] * THREADS
    assert len(built) == 1
