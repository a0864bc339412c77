"""The contract of tokenizers notices one wrong token of many, and lists that are decoded wrong."""

import pytest

from ticore.testing import TokenizerContract


class Numbers:
    """Its tokens are numbers with a space before each: " 0", " 1", ..."""

    vocab_size, special_ids = 4000, frozenset()

    def token_bytes(self, token):
        return b" %d" % token

    def decode(self, ids):
        return "".join(f" {token}" for token in ids)


class OneWrongToken(Numbers):
    def token_bytes(self, token):
        return b" wrong" if token == 3217 else super().token_bytes(token)


class DecodesInPortions(Numbers):
    """It removes the first space of each portion."""

    def decode(self, ids):
        portions = (ids[at : at + 16] for at in range(0, len(ids), 16))
        return "".join(Numbers().decode(portion)[1:] for portion in portions)


def test_right_tokens_pass():
    TokenizerContract().test_decode_writes_the_bytes_of_all_tokens_in_long_lists(Numbers())


@pytest.mark.parametrize("tokenizer", [OneWrongToken, DecodesInPortions])
def test_a_wrong_token_and_lists_decoded_wrong_are_noticed(tokenizer):
    with pytest.raises(AssertionError):
        TokenizerContract().test_decode_writes_the_bytes_of_all_tokens_in_long_lists(tokenizer())
