"""Steganographers, copied and pickled."""

import copy
import pickle

import pytest

from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.errors import AlteredTextError, CredentialError, ExtractionError
from ticore.steganography import Steganographer

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", " ", ".", "d", "e"])
SETTINGS = {"temperature": 1.7, "codec": "meteor", "finish": "none", "view": "continuation"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "again", [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
def test_steganographer_comes_back_when_copied_or_pickled(again):
    stego = Steganographer(ToyModel(TOY), key=bytes(range(32)), **SETTINGS)
    text = stego.embed(b"noon")
    back = again(stego)
    assert back.agreement == stego.agreement
    assert back.extract(text) == b"noon"
    assert stego.extract(back.embed(b"one")) == b"one"
    other = Steganographer(ToyModel(TOY), key=bytes(32), **SETTINGS)
    with pytest.raises((AlteredTextError, ExtractionError)):
        again(other).extract(text)


def test_pickle_holds_the_password_and_no_derived_key():
    stego = Steganographer(ToyModel(TOY), password="pass", **SETTINGS)
    stego._setup.secret._last[b"salt"] = "derived keys"
    back = pickle.loads(pickle.dumps(stego))
    assert back._setup.secret._material == stego._setup.secret._material
    assert back._setup.secret.salt_length == stego._setup.secret.salt_length
    assert not back._setup.secret._last


def test_steganographer_without_a_secret_has_none_when_pickled():
    back = pickle.loads(pickle.dumps(Steganographer(ToyModel(TOY), **SETTINGS)))
    with pytest.raises(CredentialError):
        back.embed(b"noon")
