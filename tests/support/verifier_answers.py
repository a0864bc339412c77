"""A Verifier's answers compared with the oracle's, along a list of tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest

from tests.support.random_bpe import few_characters
from tests.support.random_tokenizers import RandomTokenizer
from tests.support.slow import THOROUGH
from ticore._support.packed_bits import pack
from ticore.consistency import Mode, Verification, Verifier, packed_masks
from ticore.consistency._engines import self_test
from ticore.consistency._engines.retokenizing import Oracle
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import Tokenizer

_MOST_TOKENS = 24  # of a text
_SHORT_RUN = 70  # characters, of a self-test
_MOST_COMPARED = {"prefix": 150, "open": 50, "viable": 50}  # ids, after each token
# How `why` begins where a self-test has found an engine to be wrong.
_CAUGHT = re.compile(r"\b(table|suffix): after '")


def check_answers(model: RandomTokenizer, mode: Mode, text: str, choices: Sequence[int]) -> str:
    """Compare a Verifier's answers with the oracle's along a list.

    The list begins with the tokens of `text`, and goes on with admitted ones, or with any where a
    choice is 90 or more; such a token is taken back where no text may begin with the list.

    Args:
        model: is opened.
        mode: of the Verifier.
        text: where the list begins.
        choices: which tokens follow.

    Returns:
        The method that the Verifier reached; `refused` where it refuses the tokenizer.
    """
    try:
        tokenizer = model.open()
    except ModelFilesError:
        return "refused"
    with few_characters(), _short_runs():
        try:
            verifier = Verifier(tokenizer, mode=mode)
        except SettingsError:
            return "refused"
        except ModelFilesError as error:
            if "retry-limit-in-match" not in str(error):
                raise
            return "refused"  # Oniguruma gives up where an expression goes back too often
        # A self-test is a safeguard: what it finds is a mistake too.
        assert not _CAUGHT.search(verifier.why), verifier.why
        oracle, verification = Oracle(tokenizer, mode), verifier.start()
        tokens = _to_compare(tokenizer, model.texts, _MOST_COMPARED[mode])
        admitted = check_position(verification, oracle, tokens)
        for token in tokenizer.encode(text)[:_MOST_TOKENS]:
            verification.push(token)
            admitted = check_position(verification, oracle, tokens)
        while not verification.admissible:
            verification.rewind(1)
        for choice in choices:
            admitted = check_position(verification, oracle, tokens)
            some = admitted if admitted and choice < 90 else tokens
            verification.push(some[choice % len(some)])
            check_position(verification, oracle, tokens)
            if not verification.admissible:
                verification.rewind(1)
    return verifier.method


@contextmanager
def _short_runs() -> Iterator[None]:
    """Self-tests that look at shorter runs, since those take most of their time.

    Each trained and each real tokenizer's self-test has the long ones.
    """
    if THOROUGH:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        runs = tuple((before, run, _SHORT_RUN) for before, run, _ in self_test._RUNS)
        patch.setattr(self_test, "_RUNS", runs)
        yield


def check_position(
    verification: Verification, oracle: Oracle, tokens: Sequence[int]
) -> Sequence[int]:
    """Compare all answers about one list. Returns the tokens that may follow."""
    ids, spelled = list(verification.ids), oracle.tokenizer.token_bytes
    after = f"after {ids}, {[spelled(i) for i in ids]}"
    assert verification.consistent == oracle.is_consistent(ids), after
    assert verification.admissible == oracle.may_begin(ids), after
    if not verification.admissible:
        return []
    expected = oracle.admits(ids, tokens).tolist()
    mask = verification.mask()
    assert np.array_equal(packed_masks([verification])[0], pack(mask)), after
    for found in (verification.admits(tokens).tolist(), mask[list(tokens)].tolist()):
        wrong = [t for t, a, b in zip(tokens, found, expected, strict=True) if a != b]
        assert not wrong, f"{after} it is wrong about {[(i, spelled(i)) for i in wrong]}"
    return [token for token, good in zip(tokens, expected, strict=True) if good]


def _to_compare(tokenizer: Tokenizer, texts: Sequence[str], most: int) -> list[int]:
    """Ids, special ones too, but of single bytes only those that are in `texts` and a few more."""
    told = {*"".join(texts).encode(), *b"a'. \n1\x80\xe3"}
    spelled = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    longer = [i for i, data in enumerate(spelled) if len(data) != 1]
    single = [i for i, data in enumerate(spelled) if len(data) == 1 and data[0] in told]
    return [*longer[::-1], *single][:most]
