"""Verifiers and their lists, copied and pickled."""

import copy
import pickle

import pytest

from tests.support.tokenizers import TRAINED
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import Verification, Verifier
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._verifier import _engine
from ticore.errors import SettingsError

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c"])

ways = pytest.mark.parametrize(
    "again",
    [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy, copy.copy],
    ids=["pickle", "deepcopy", "copy"],
)


@pytest.mark.slow
@ways
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("hf-cl100k", {"mode": "viable", "view": "continuation"}),
        ("sp-bpe", {"method": "suffix"}),
        ("sp-unigram", {"channel": "strip"}),
    ],
)
def test_a_copied_verifier_has_the_same_settings_and_answers(name, settings, again):
    verifier = Verifier(TRAINED[name](), **settings)
    back = again(verifier)
    kept = ("mode", "view", "channel", "method", "why", "checks")
    assert [getattr(back, name) for name in kept] == [getattr(verifier, name) for name in kept]
    assert back.tokenizer.digest() == verifier.tokenizer.digest()
    ids = verifier.tokenizer.encode("It's what")
    assert back.start(ids).mask().tolist() == verifier.start(ids).mask().tolist()


@ways
@pytest.mark.parametrize("view", ["whole", "continuation"])
def test_a_copied_verification_is_equal_and_independent(view, again):
    verification = Verifier(TOY, view=view).start([1])
    for token in (6, 1, 2):  # "a" and "b" would be read as one
        verification.push(token)
    assert not verification.consistent
    back = again(verification)
    assert list(back.ids) == list(verification.ids)
    assert (back.consistent, back.unrecoverable) == (
        verification.consistent,
        verification.unrecoverable,
    )
    back.rewind(1)
    back.push(6)
    assert back.consistent
    assert list(verification.ids)[-1] == 2
    verification.rewind(3)
    with pytest.raises(SettingsError, match="rewind: expected 0 to"):
        verification.rewind(1)
    back = again(verification)
    with pytest.raises(SettingsError, match="rewind: expected 0 to 0 ids, found 1"):
        back.rewind(1)


def test_pickling_a_verification_without_a_verifier_says_what_to_pickle():
    oracle = Oracle(TOY)
    verification = Verification(_engine("retokenize", oracle), oracle, None, ())
    with pytest.raises(TypeError, match="pickle its ids"):
        pickle.dumps(verification)
