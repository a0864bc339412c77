"""The verifier against the definition, on texts of all kinds and every tokenizer at hand."""

import numpy as np
import pytest

from tests.support.sample_texts import LONG_RUNS, PASSAGES
from tests.support.slow import FEW_TOKENIZERS, examples, pairs_of, slow_unless, some_pairs
from tests.support.tokenizers import REAL, TRAINED
from ticore._support.utf8 import unfinished_suffix
from ticore.consistency import Verifier
from ticore.consistency._engines.retokenizing import Oracle

TOKENIZERS = TRAINED | REAL
# The candidates that are compared, for each tokenizer: 100,000 and more in all.
CASES = some_pairs(sorted(TOKENIZERS), ["prefix", "open", "viable"], one_in=3)
FLOORS = {"prefix": 2_000, "open": 700, "viable": 700}


def is_quick(token, admitted, tokenizer):
    """Whether the definition is quick about it: it tries all characters before it says no."""
    return admitted or len(unfinished_suffix(tokenizer.token_bytes(token))) in (0, 2)


@pytest.mark.parametrize(("name", "mode"), slow_unless(pairs_of(FEW_TOKENIZERS, CASES), CASES))
def test_verifier_equals_the_definition_along_passages(name, mode):
    """The true next token, tokens of the text, any tokens, and some that the mask admits."""
    tokenizer = TOKENIZERS[name]()
    verifier = Verifier(tokenizer, mode=mode)
    assert (verifier.method, verifier.why) == ("table", "")
    oracle, rng = Oracle(tokenizer, mode), np.random.default_rng(1)
    checks = 0
    for passage in PASSAGES.values():
        ids = tokenizer.encode(passage)
        text = verifier.start()
        for true in ids[: 18 if mode == "prefix" else 10]:
            mask = text.mask()
            candidates = [true, *rng.choice(ids, 5), *rng.integers(tokenizer.vocab_size, size=4)]
            candidates += rng.choice(np.flatnonzero(mask), 5).tolist() if mask.any() else []
            if mode != "prefix":
                candidates = [t for t in candidates if is_quick(t, mask[t], tokenizer)]
            answers = text.admits(candidates)
            assert answers.tolist() == mask[candidates].tolist()
            assert answers.tolist() == oracle.admits(text.ids, candidates).tolist()
            assert text.consistent == oracle.is_consistent(text.ids)
            checks += len(candidates)
            if not answers.any():
                break
            text.push(true if mask[true] else candidates[int(rng.choice(np.flatnonzero(answers)))])
    assert checks >= FLOORS[mode]
    compare_after_long_runs(verifier, oracle)


def compare_after_long_runs(verifier, oracle):
    tokenizer, special = verifier.tokenizer, verifier.tokenizer.special_ids
    some = {token for text in ("a \u0301", "\n", "1") for token in tokenizer.encode(text)} - special
    for passage in LONG_RUNS:
        ids = tokenizer.encode(passage)
        if special.intersection(ids):
            continue  # a character that it does not know
        text = verifier.start(ids)
        assert text.admissible == oracle.may_begin(ids), passage
        assert text.consistent == oracle.is_consistent(ids), passage
        if text.admissible:
            mask = text.mask()
            candidates = [t for t in sorted(some) if is_quick(t, mask[t], tokenizer)]
            expected = oracle.admits(ids, candidates).tolist()
            assert text.admits(candidates).tolist() == mask[candidates].tolist() == expected


@pytest.mark.parametrize("name", slow_unless(["sp-bpe", "sp-unigram"], sorted(TOKENIZERS)))
def test_viable_admits_every_token_of_a_true_text(name):
    tokenizer = TOKENIZERS[name]()
    verifier = Verifier(tokenizer, mode="viable")
    checked, left_out = 0, tokenizer.unknown_ids | tokenizer.special_ids
    for passage in PASSAGES.values():
        known = [token for token in tokenizer.encode(passage) if token not in left_out]
        ids = tokenizer.encode(tokenizer.decode(known))
        if tokenizer.encode(tokenizer.decode(ids)) == ids:  # else it is no text of this tokenizer
            text = verifier.start()
            for token in ids[: examples(25, thorough=200)]:
                assert text.admits([token]).all(), (text.ids, token)
                text.push(token)
                checked += 1
    assert checked > 100
