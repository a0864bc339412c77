"""A part of a list drops old states, and is the same after it was taken back to before them."""

import random

import numpy as np
import pytest

from tests.support.tokenizers import TRAINED
from ticore.consistency import Verifier, _part

TEXT = "The houses aren't 12 o'clock:\n\nnai\u0308ve 日本語のトークン, na\u00efve \U0001f600  a"


def answers(verification, candidates):
    """All that a verification says of its list."""
    found = verification.consistent, verification.admissible, verification.unrecoverable
    admitted = verification.admits(candidates).tolist() if verification.admissible else None
    return verification.ids, found, admitted


@pytest.mark.parametrize(
    ("name", "mode", "method"),
    [
        ("hf-gpt2", "prefix", None),
        ("hf-cl100k-nfc", "viable", None),
        ("sp-bpe", "open", None),
        ("sp-unigram", "prefix", None),
        ("hf-gpt2", "prefix", "suffix"),
    ],
)
def test_part_answers_alike_after_rewinds_of_any_length(name, mode, method, monkeypatch):
    tokenizer = TRAINED[name]()
    verifier = Verifier(tokenizer, mode=mode, method=method)
    draw = random.Random(f"{name} {mode}")
    ids = tokenizer.encode(TEXT)
    candidates = np.array(ids[:20])
    for kept in (1, 3):
        monkeypatch.setattr(_part, "_KEPT", kept)
        verification, pushed = verifier.start(), list[int]()
        for _ in range(40):
            if draw.random() < 0.4 and pushed:
                count = draw.randint(1, len(pushed))
                verification.rewind(count)
                del pushed[-count:]
            else:
                # Most tokens are those of the text, so that the list stays consistent for long.
                at = len(pushed) % len(ids)
                more = ids[at : at + draw.randint(1, 9)]
                if draw.random() < 0.2:
                    more = [*more, draw.choice(ids)]
                for token in more:
                    verification.push(token)
                pushed += more
            fresh = verifier.start()
            monkeypatch.setattr(_part, "_KEPT", 1 << 20)
            for token in pushed:
                fresh.push(token)
            monkeypatch.setattr(_part, "_KEPT", kept)
            assert answers(verification, candidates) == answers(fresh, candidates)


@pytest.mark.parametrize("name", sorted(TRAINED))
def test_many_ids_at_once_are_what_they_are_one_by_one(name):
    """Lists that end inside a character, of which some are read back with more ids at the end."""
    tokenizer = TRAINED[name]()
    verifier, oracle = Verifier(tokenizer), Verifier(tokenizer, method="retokenize")
    ids = tokenizer.encode("the houses of the old town \ufffe 日本 \ufffd \U0001f600 \U0010ffff")
    for count in range(_part._FEW, len(ids) + 1):
        given = ids[:count]
        pushed = verifier.start()
        for token in given:
            pushed.push(token)
        consistent = not given or tokenizer.encode(tokenizer.decode(given)) == given
        for verification in (verifier.start(given), oracle.start(given), pushed):
            assert verification.consistent == consistent
