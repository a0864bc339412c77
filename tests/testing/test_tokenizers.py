"""The contract of tokenizers notices wrong tokens, lists decoded wrong, and texts read wrong."""

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


class Bytes:
    """One token per byte, and a start token."""

    vocab_size, special_ids = 257, frozenset({256})

    def encode(self, text):
        return list(text.encode())

    def token_bytes(self, token):
        return bytes([token]) if token < 256 else b""


class AddsStart(Bytes):
    """It puts its start token before each text, as a library may unless told not to."""

    def encode(self, text):
        return [256, *super().encode(text)] if text else []


class DropsText(Bytes):
    """It reads each text as one letter."""

    def encode(self, text):
        return super().encode(text)[:1]


class KnowsNoSigns(Bytes):
    """It reads in lower case, with a space before each text, and gives its special id for "="."""

    unknown_ids, special_ids = frozenset({256}), frozenset({256})

    def encode(self, text):
        ids = super().encode(f" {text}".lower()) if text else []
        return [256 if token == ord("=") else token for token in ids]

    def decode(self, ids):
        return bytes(token for token in ids if token < 256).decode()

    def encode_batch(self, texts):
        return [self.encode(text) for text in texts]

    def digest(self):
        return "no signs"

    def structure(self):
        return None

    def token_name(self, token):
        return "<unk>" if token == 256 else ""


class KeepsNoSpaces(KnowsNoSigns):
    """It says what it loses."""

    losses = "it keeps no white space"

    def encode(self, text):
        return super().encode("".join(text.split()))


def read_words(tokenizer):
    contract = TokenizerContract()
    contract.test_encode_gives_ids_and_never_one_without_bytes_for_plain_words(tokenizer)
    contract.test_encode_gives_tokens_that_spell_plain_words(tokenizer)


@pytest.mark.parametrize("tokenizer", [Bytes, KnowsNoSigns, KeepsNoSpaces])
def test_words_that_are_read_right_pass(tokenizer):
    read_words(tokenizer())


@pytest.mark.parametrize("tokenizer", [AddsStart, DropsText])
def test_words_that_are_read_wrong_are_noticed(tokenizer):
    with pytest.raises(AssertionError):
        read_words(tokenizer())
