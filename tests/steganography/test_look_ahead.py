"""Messages hidden with look-ahead, whose steps may have more choices than the pool has tokens."""

import pytest

import ticore
from ticore.errors import SettingsError

SETTINGS = {"prompt": "The old house", "disambiguation": "lookahead", "weight_bits": 8}


@pytest.fixture(scope="module")
def model():
    return ticore.load_model("tiny-en", dtype="float32")


def steganographer(model, number, top_k):
    key = bytes([number]) * 32
    return ticore.Steganographer(model, key=key, top_k=top_k, security="compact", **SETTINGS)


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 3, 4])
def test_pool_that_fits_in_the_weights_is_enough(model, number):
    """With it 130 to 145 paths occur, where 8 bits have weights for 128."""
    text = str(steganographer(model, number, 112).embed(b"noon"))
    assert steganographer(model, number, 112).extract(text) == b"noon"


def test_pool_that_does_not_fit_is_refused(model):
    with pytest.raises(SettingsError, match=r"weight_bits of at least 11, found 8; raise it or"):
        steganographer(model, 1, 1000).embed(b"noon")
