"""The tiktoken adapter against the library, on trained and on real ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st

from tests import tokenizer_contract as contract
from tests.tokenizers import (
    CL100K_PATTERN,
    O200K_PATTERN,
    REAL,
    REAL_TIKTOKEN,
    SENTENCEPIECE,
    TIKTOKEN,
    ranks_of_trained,
    sample_text,
)
from ticore.consistency import Verifier, patterns
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import Tokenizer
from ticore.registry import load_tokenizer
from ticore_tiktoken import PATTERNS, TiktokenTokenizer
from ticore_tiktoken.ranks import parse_ranks, write_ranks

ALL = TIKTOKEN | REAL_TIKTOKEN
BYTES = {bytes([byte]): byte for byte in range(256)}

any_tokenizer = pytest.mark.parametrize("name", ALL)


def library_of(tokenizer: TiktokenTokenizer) -> tiktoken.Encoding:
    return tokenizer._library


# Token bytes and texts


@any_tokenizer
@given(draws=contract.numbers)
@example(draws=[226, 150, 129])  # U+2581 spelled in bytes
@example(draws=[240, 163, 131])  # the bytes of a lone surrogate
def test_decode_is_token_bytes(name: str, draws: list[int]) -> None:
    tokenizer = ALL[name]()
    contract.check_decode_is_bytes(tokenizer, contract.any_ids(tokenizer, draws), squeezes=False)


@any_tokenizer
@given(text=contract.texts)
@example(text="")
@example(text="a\x00b<|endoftext|>")
def test_token_bytes_spell_the_text(name: str, text: str) -> None:
    tokenizer = ALL[name]()
    ids = tokenizer.encode(text)
    assert contract.joined_bytes(tokenizer, ids) == text.encode()
    assert tokenizer.decode(ids) == text


@any_tokenizer
@given(draws=contract.numbers)
def test_silent_ids_contribute_nothing(name: str, draws: list[int]) -> None:
    tokenizer = ALL[name]()
    contract.check_silent(tokenizer, contract.any_ids(tokenizer, draws))


@any_tokenizer
@given(batch=st.lists(contract.texts, max_size=5))
@example(batch=["two threads " * 2000, "or more " * 2000])
def test_batch_is_map(name: str, batch: list[str]) -> None:
    contract.check_batch_is_map(ALL[name](), batch)


@any_tokenizer
@given(text=contract.texts, draws=contract.numbers)
def test_agrees_with_library(name: str, text: str, draws: list[int]) -> None:
    tokenizer = ALL[name]()
    library = library_of(tokenizer)
    assert tokenizer.encode(text) == library.encode(text, disallowed_special=())
    ids = [i for i in contract.any_ids(tokenizer, draws) if i not in tokenizer.special_ids]
    assert tokenizer.decode(ids) == library.decode(ids)


@any_tokenizer
def test_ids_in_range(name: str) -> None:
    tokenizer = ALL[name]()
    assert isinstance(tokenizer, Tokenizer)
    contract.check_ids_in_range(tokenizer)


def test_ranks_left_out_are_special() -> None:
    tokenizer = TIKTOKEN["tiktoken-small"]()
    assert tokenizer.special_ids == {401}
    assert tokenizer.token_bytes(401) == b""
    assert tokenizer.decode([97, 401, 98]) == "ab"


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_lone_surrogate_is_refused(text: str) -> None:
    tokenizer = TIKTOKEN["tiktoken-small"]()
    with pytest.raises(SettingsError, match="lone surrogate U\\+D"):
        tokenizer.encode(text)
    with pytest.raises(SettingsError, match="lone surrogate U\\+D"):
        tokenizer.encode_batch(["fine" * 10_000, text])


def test_what_the_library_fails_with() -> None:
    contract.check_failures(TiktokenTokenizer(BYTES, "gpt2"))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("unit", ["a", "A", "1", "!", "\n", "a ", "\u0301"])
def test_long_texts(pattern: str, unit: str) -> None:
    tokenizer = TiktokenTokenizer(BYTES, pattern)
    assert len(tokenizer.encode(unit * 400_000)) == len(unit.encode()) * 400_000


@pytest.mark.parametrize("pattern", PATTERNS)
def test_blank_text_too_long_for_the_library_is_refused(pattern: str) -> None:
    tokenizer = TiktokenTokenizer(BYTES, pattern)
    assert len(tokenizer.encode(" " * 499_999 + "x")) == 500_000
    for text in (" " * 500_000, "a" + "\t\u3000" * 250_000 + "b"):
        with pytest.raises(SettingsError, match="500,000 blank characters"):
            tokenizer.encode(text)


# Structure


@pytest.mark.parametrize(
    ("name", "pattern"), [("tiktoken-small", O200K_PATTERN), ("llama-3", CL100K_PATTERN)]
)
def test_structure(name: str, pattern: str) -> None:
    assert contract.traits(ALL[name]().structure()) == {
        "kind": "bpe",
        "atoms": "bytes",
        "ignore_merges": True,
        "pretokenizer": (pattern,),
    }


@any_tokenizer
def test_structure_goes_with_the_tokens(name: str) -> None:
    contract.check_structure(ALL[name]())


def test_patterns_are_those_that_the_core_knows() -> None:
    assert PATTERNS == {
        "gpt2": patterns.GPT2,
        "cl100k": patterns.CL100K,
        "o200k": patterns.O200K,
        "llama3": patterns.CL100K,
        "qwen2": patterns.QWEN2,
    }


def test_a_part_that_is_a_token_stays_whole() -> None:
    tokenizer = TiktokenTokenizer(BYTES | {b"abc": 256}, "gpt2")
    assert tokenizer.encode("abc abcd") == [256, *b" abcd"]


def test_converted_ranks_encode_alike() -> None:
    ranks, converted = REAL["llama-3"](), REAL["llama-3-json"]()
    for text in sample_text(50, seed=3):
        assert ranks.encode(text) == converted.encode(text)


# Digest and files


def test_digest_tells_tokenizers_apart(tmp_path: Path) -> None:
    ranks = ranks_of_trained()
    digests = {TiktokenTokenizer(ranks, pattern).digest() for pattern in PATTERNS}
    assert len(digests) == len({*PATTERNS.values()})
    assert TiktokenTokenizer(BYTES, "gpt2").digest() not in digests


def test_digest_ignores_the_order_of_lines(tmp_path: Path) -> None:
    ordered, reversed_ = tmp_path / "a", tmp_path / "b"
    lines = write_ranks(ranks_of_trained()).splitlines(keepends=True)
    ordered.write_bytes(b"".join(lines))
    reversed_.write_bytes(b"\n" + b"".join(reversed(lines)).replace(b"\n", b"\r\n"))
    first, second = (TiktokenTokenizer.from_file(file, "o200k") for file in (ordered, reversed_))
    assert first.digest() == second.digest() == TIKTOKEN["tiktoken-small"]().digest()


def test_ranks_survive_being_written() -> None:
    assert parse_ranks(write_ranks(ranks_of_trained())) == ranks_of_trained()


def test_a_token_of_no_bytes_is_special(tmp_path: Path) -> None:
    """Whisper's multilingual.tiktoken ends in one, as it was published."""
    file = tmp_path / "multilingual.tiktoken"
    file.write_bytes(write_ranks(ranks_of_trained()) + b"= 700\n")
    tokenizer = load_tokenizer(f"tiktoken:{file}#o200k")
    plain = TIKTOKEN["tiktoken-small"]()
    assert tokenizer.vocab_size == 701
    assert tokenizer.special_ids == {*plain.special_ids, *range(plain.vocab_size, 701)}
    for text in sample_text(10):
        assert tokenizer.encode(text) == plain.encode(text)
    assert tokenizer.decode([65, 700, 66]) == plain.decode([65, 66])
    assert parse_ranks(write_ranks({**BYTES, b"": 256})) == {**BYTES, b"": 256}
    assert Verifier(tokenizer).rung == Verifier(plain).rung


@pytest.mark.parametrize("name", ["ranks.tiktoken", "of#many#parts"])
def test_opens_a_place(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_bytes(write_ranks(ranks_of_trained()))
    tokenizer = TIKTOKEN["tiktoken-small"]()
    again = load_tokenizer(f"tiktoken:{file}#o200k")
    assert again.digest() == tokenizer.digest()
    assert again.encode_batch(sample_text(3)) == tokenizer.encode_batch(sample_text(3))


@pytest.mark.parametrize(
    ("place", "found"),
    [("tiktoken:{0}", "found no pattern"), ("tiktoken:{0}#p50k", "found 'p50k'")],
)
def test_unknown_pattern_lists_those_that_are_known(tmp_path: Path, place: str, found: str) -> None:
    file = tmp_path / "ranks"
    file.write_bytes(write_ranks(BYTES))
    with pytest.raises(SettingsError, match=found) as caught:
        load_tokenizer(place.format(file))
    assert "gpt2, cl100k, o200k, llama3, qwen2" in str(caught.value)


def _sentencepiece() -> bytes:
    return SENTENCEPIECE["sp-bpe"]()._library.serialized_model_proto()


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "an empty file"),
        (b"\n\n", "an empty file"),
        (_sentencepiece(), "a file that is not text"),
        (b'{"model": null}', "on line 1"),
        (b"IQ== 0\nIg==", "on line 2 'Ig=='"),
        (b"IQ== 0\nIg 1", "on line 2 'Ig 1'"),
        (b"IQ== 0\nIg== -1", "on line 2"),
        (b"IQ== 0\nIg== 4294967296", "on line 2"),
        (b"IQ== 0\n 1", "on line 2"),
        (b"IQ== 0\n== 1", "on line 2"),
        (b"= 0\n= 1", "on line 2 the token b'' a second time"),
        (write_ranks(BYTES | {b"ab": 9_999_999}), "found the id 9,999,999"),
        (b"IQ== 0\nIQ== 1", "on line 2 the token b'!' a second time"),
        (b"IQ== 0\nIg== 0", "two tokens of the same rank"),
        (write_ranks(BYTES).replace(b"QQ== 65\n", b""), "none for 0x41"),
    ],
)
def test_damaged_file(tmp_path: Path, content: bytes, found: str) -> None:
    file = tmp_path / "ranks"
    file.write_bytes(content)
    with pytest.raises(ModelFilesError, match=found) as caught:
        load_tokenizer(f"tiktoken:{file}#gpt2")
    assert str(file) in str(caught.value)
    assert caught.value.__suppress_context__


def test_other_files_are_sent_to_their_backends(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.model"
    file.write_bytes(_sentencepiece())
    with pytest.raises(ModelFilesError, match="sentencepiece:FILE"):
        load_tokenizer(f"tiktoken:{file}#gpt2")
    file.write_bytes(write_ranks(BYTES))
    with pytest.raises(ModelFilesError, match="tiktoken:FILE#PATTERN"):
        load_tokenizer(f"sentencepiece:{file}")


@pytest.mark.parametrize("name", ["absent", "."])
def test_missing_file_or_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelFilesError, match="check the path"):
        TiktokenTokenizer.from_file(tmp_path / name, "gpt2")
