"""Tokens of incomplete characters: what is called out of reach is never given."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from tests.support.tokenizers import TRAINED
from ticore.backend_kit import byte_alphabet
from ticore.consistency._audit import _is_whole
from ticore.consistency._partial_tokens import _is_in_some_text, never_given
from ticore.interfaces import Tokenizer as TokenizerInterface
from ticore_tiktoken import TiktokenTokenizer
from ticore_tokenizers import HuggingFaceTokenizer

INVALID = {0xC0, 0xC1, *range(0xF5, 0x100)}
SINGLES = {bytes([byte]): byte for byte in range(256)}


def broken(tokenizer: TokenizerInterface) -> set[bytes]:
    spelled = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    ordinary = set(range(tokenizer.vocab_size)) - tokenizer.special_ids
    partial = [i for i in ordinary if not _is_whole(spelled[i])]
    return {spelled[i] for i in never_given(tokenizer.structure(), partial, spelled)}


@given(text=st.text(max_size=3), start=st.integers(0, 5), end=st.integers(0, 12))
@example("\U0010ffff", 1, 4)
@example("\ud7ff\ue000", 0, 5)
def test_each_part_of_a_text_is_in_some_text(text: str, start: int, end: int) -> None:
    assert _is_in_some_text(text.encode()[start:end])


@pytest.mark.parametrize(
    "data",
    [
        *(b"\xc0", b"\xff", b"a\xc1", b"\xed\xa0", b"\xf4\x90", b"\xe0\x80", b"\x80" * 4),
        *(b"\xe3a", b"\x80\xe3\xe3", b"a\x80"),
    ],
)
def test_bytes_that_no_utf_8_has(data: bytes) -> None:
    assert not _is_in_some_text(data)


def by_merges() -> HuggingFaceTokenizer:
    """Byte-level BPE in which 81 82 81 is a token that no merge gives."""
    name = {byte: letter for letter, byte in byte_alphabet().items()}
    a, b, c = name[0xE3], name[0x81], name[0x82]
    vocab = byte_alphabet() | {a + b: 256, b + c: 257, a + b + c: 258, b + c + b: 259}
    library = Tokenizer(models.BPE(vocab, [(a, b), (b, c), (a + b, c)]))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    return HuggingFaceTokenizer(library)


def by_ranks() -> TiktokenTokenizer:
    """E3 81 82 is made from E3 81; 82 E3 81 never is, since 82 E3 is no token and E3 81 is first.

    C3 A9 is whole; A9 C3 joins two neighbours that are each taken by their own characters.
    """
    more = [b"\xe3\x81", b"\xe3\x81\x82", b"\x82\xe3\x81\x82", b"\xa9\xc3\xa9"]
    return TiktokenTokenizer(SINGLES | {token: 256 + n for n, token in enumerate(more)}, "gpt2")


def test_a_token_that_its_own_bytes_do_not_give_is_out_of_reach() -> None:
    invalid = {bytes([byte]) for byte in INVALID}
    assert broken(by_merges()) == invalid | {b"\x81\x82\x81"}
    assert broken(by_ranks()) >= invalid | {b"\xa9\xc3\xa9"}
    assert b"\x82\xe3\x81\x82" not in broken(by_ranks())


letters = st.sampled_from("あい\u3042éa\u00a9\u3001\U0001f600\u0301京 ") | st.characters(
    exclude_categories=["Cs"]
)


@pytest.mark.parametrize("name", ["by-merges", "by-ranks", "hf-gpt2", "tiktoken-small", "sp-bpe"])
@given(text=st.lists(letters, max_size=12).map("".join))
def test_what_is_out_of_reach_is_never_given(name: str, text: str) -> None:
    tokenizer, found = opened(name)
    assert found.isdisjoint(map(tokenizer.token_bytes, tokenizer.encode(text)))


@cache
def opened(name: str) -> tuple[TokenizerInterface, set[bytes]]:
    tokenizer = (TRAINED | {"by-merges": by_merges, "by-ranks": by_ranks})[name]()
    return tokenizer, broken(tokenizer)
