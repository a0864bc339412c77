"""Steganographers, copied and pickled."""

import copy
import pickle

import pytest

from tests.models import ToyModel, ToyTokenizer
from ticore.errors import AuthenticationError, ExtractionError, KeyFormatError
from ticore.steganography import Steganographer

TOY = ToyTokenizer(["", "a", "b", "ab", "ba", "aab", "c", " ", ".", "d", "e"])
SETTINGS = {"temperature": 1.7, "codec": "meteor", "finish": "none", "view": "continuation"}


@pytest.mark.parametrize(
    "again", [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
def test_a_steganographer_comes_back_as_it_was(again):
    stego = Steganographer(ToyModel(TOY), key=bytes(range(32)), **SETTINGS)
    text = stego.embed(b"noon")
    back = again(stego)
    assert back.agreement == stego.agreement
    assert back.extract(text) == b"noon"
    assert stego.extract(back.embed(b"one")) == b"one"
    other = Steganographer(ToyModel(TOY), key=bytes(32), **SETTINGS)
    with pytest.raises((AuthenticationError, ExtractionError)):
        again(other).extract(text)


def test_a_password_is_kept_and_what_was_derived_from_it_is_not():
    stego = Steganographer(ToyModel(TOY), password="pass", **SETTINGS)
    stego._secret._last[b"salt"] = "derived keys"
    back = pickle.loads(pickle.dumps(stego))
    assert back._secret._material == stego._secret._material
    assert back._secret.salt_length == stego._secret.salt_length
    assert not back._secret._last


def test_one_without_a_secret_stays_so():
    back = pickle.loads(pickle.dumps(Steganographer(ToyModel(TOY), **SETTINGS)))
    with pytest.raises(KeyFormatError):
        back.embed(b"noon")
