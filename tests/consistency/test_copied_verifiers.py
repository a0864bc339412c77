"""Verifiers and their lists, copied and pickled."""

import copy
import pickle

import pytest

from tests.models import ToyTokenizer
from tests.tokenizers import TRAINED
from ticore.consistency import Verification, Verifier
from ticore.consistency.oracle import Oracle
from ticore.consistency.verifier import _engine
from ticore.errors import SettingsError

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c"])

ways = pytest.mark.parametrize(
    "again",
    [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy, copy.copy],
    ids=["pickle", "deepcopy", "copy"],
)


@ways
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("hf-cl100k", {"mode": "viable", "view": "continuation"}),
        ("sp-bpe", {"rung": "tail"}),
        ("sp-unigram", {"channel": "strip"}),
    ],
)
def test_a_verifier_comes_back_as_it_was(name, settings, again):
    verifier = Verifier(TRAINED[name](), **settings)
    back = again(verifier)
    kept = ("mode", "view", "channel", "rung", "why", "checks")
    assert [getattr(back, name) for name in kept] == [getattr(verifier, name) for name in kept]
    assert back.tokenizer.digest() == verifier.tokenizer.digest()
    ids = verifier.tokenizer.encode("It's what")
    assert back.start(ids).mask().tolist() == verifier.start(ids).mask().tolist()


@ways
@pytest.mark.parametrize("view", ["whole", "continuation"])
def test_a_list_comes_back_and_goes_on_by_itself(view, again):
    verification = Verifier(TOY, view=view).start([1])
    for token in (6, 1, 2):  # "a" and "b" would be read as one
        verification.push(token)
    assert not verification.consistent
    back = again(verification)
    assert list(back.ids) == list(verification.ids)
    assert (back.consistent, back.lost) == (verification.consistent, verification.lost)
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


def test_what_no_verifier_made_says_what_to_pickle():
    oracle = Oracle(TOY)
    verification = Verification(_engine("oracle", oracle), oracle, None, ())
    with pytest.raises(TypeError, match="pickle its ids"):
        pickle.dumps(verification)
