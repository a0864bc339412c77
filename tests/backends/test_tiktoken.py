"""The tiktoken adapter against the library, on trained and on real ranks."""

from __future__ import annotations

from pathlib import Path

import pytest
import regex
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support import tokenizer_contract as contract
from tests.support.tokenizers import (
    CL100K_PATTERN,
    O200K_PATTERN,
    REAL,
    REAL_TIKTOKEN,
    SENTENCEPIECE,
    TIKTOKEN,
    ranks_of_trained,
    sample_text,
)
from ticore.consistency import Verifier, compare
from ticore.consistency._tokenizer_rules import pretokenizers
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import NamingTokenizer
from ticore.registry import load_tokenizer, wrap
from ticore.testing import TokenizerContract
from ticore_tiktoken import PATTERNS, TiktokenTokenizer
from ticore_tiktoken._patterns import EQUIVALENT
from ticore_tiktoken._ranks import parse_ranks, write_ranks

ALL = TIKTOKEN | REAL_TIKTOKEN
BYTES = {bytes([byte]): byte for byte in range(256)}

any_tokenizer = pytest.mark.parametrize("name", ALL)


def library_of(tokenizer: TiktokenTokenizer) -> tiktoken.Encoding:
    return tokenizer._library


class TestContract(TokenizerContract):
    examples = (
        (226, 150, 129),  # U+2581 spelled in bytes
        (240, 163, 131),  # the bytes of a lone surrogate
    )

    @pytest.fixture(params=ALL)
    def tokenizer(self, request: pytest.FixtureRequest) -> TiktokenTokenizer:
        return ALL[request.param]()


# Token bytes and texts


@any_tokenizer
@given(text=contract.texts)
@example(text="")
@example(text="a\x00b<|endoftext|>")
def test_encode_gives_tokens_whose_bytes_are_the_text(name: str, text: str) -> None:
    tokenizer = ALL[name]()
    ids = tokenizer.encode(text)
    assert contract.joined_bytes(tokenizer, ids) == text.encode()
    assert tokenizer.decode(ids) == text


@any_tokenizer
@given(text=contract.texts, draws=contract.numbers)
def test_encode_and_decode_equal_the_library(name: str, text: str, draws: list[int]) -> None:
    tokenizer = ALL[name]()
    library = library_of(tokenizer)
    assert tokenizer.encode(text) == library.encode(text, disallowed_special=())
    ids = [i for i in contract.any_ids(tokenizer, draws) if i not in tokenizer.special_ids]
    assert tokenizer.decode(ids) == library.decode(ids)


def test_special_ids_include_ranks_that_are_left_out() -> None:
    tokenizer = TIKTOKEN["tiktoken-small"]()
    assert tokenizer.special_ids == {401}
    assert tokenizer.token_bytes(401) == b""
    assert tokenizer.decode([97, 401, 98]) == "ab"


def test_what_is_no_id_and_no_text_is_refused() -> None:
    contract.check_refusals(TiktokenTokenizer(BYTES, "gpt2"))


def test_encode_raises_an_error_of_ticore_when_the_library_fails() -> None:
    contract.check_failures(TiktokenTokenizer(BYTES, "gpt2"))


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("unit", ["a", "A", "1", "!", "\n", "a ", "\u0301"])
def test_encode_reads_long_texts_of_one_unit(pattern: str, unit: str) -> None:
    tokenizer = TiktokenTokenizer(BYTES, pattern)
    assert len(tokenizer.encode(unit * 400_000)) == len(unit.encode()) * 400_000


@pytest.mark.parametrize("pattern", PATTERNS)
def test_encode_refuses_white_space_too_long_for_the_library(pattern: str) -> None:
    tokenizer = TiktokenTokenizer(BYTES, pattern)
    assert len(tokenizer.encode(" " * 499_999 + "x")) == 500_000
    for text in (" " * 500_000, "a" + "\t\u3000" * 250_000 + "b"):
        with pytest.raises(SettingsError, match="500,000 blank characters"):
            tokenizer.encode(text)


# Structure


@pytest.mark.parametrize(
    ("name", "pattern"), [("tiktoken-small", O200K_PATTERN), ("llama-3", CL100K_PATTERN)]
)
def test_structure_states_the_traits_of_the_ranks(name: str, pattern: str) -> None:
    assert contract.traits(ALL[name]().structure()) == {
        "kind": "bpe",
        "atoms": "bytes",
        "ignore_merges": True,
        "pretokenizer": (pattern,),
    }


def test_patterns_are_known_to_the_core() -> None:
    assert PATTERNS == {
        "gpt2": pretokenizers.GPT2,
        "cl100k": pretokenizers.CL100K,
        "o200k": pretokenizers.O200K,
        "llama3": pretokenizers.CL100K,
        "qwen2": pretokenizers.QWEN2,
    }


def test_encode_keeps_a_part_that_is_a_token_whole() -> None:
    tokenizer = TiktokenTokenizer(BYTES | {b"abc": 256}, "gpt2")
    assert tokenizer.encode("abc abcd") == [256, *b" abcd"]


@pytest.mark.slow
def test_encode_equals_a_converted_tokenizer_json() -> None:
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


def test_write_ranks_writes_what_parse_ranks_reads() -> None:
    assert parse_ranks(write_ranks(ranks_of_trained())) == ranks_of_trained()


def test_parse_ranks_makes_a_token_of_no_bytes_special(tmp_path: Path) -> None:
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
    assert Verifier(tokenizer).method == Verifier(plain).method


@pytest.mark.parametrize("name", ["ranks.tiktoken", "of#many#parts"])
def test_load_tokenizer_opens_a_file_of_ranks(tmp_path: Path, name: str) -> None:
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
def test_load_tokenizer_lists_known_patterns_for_an_unknown_one(
    tmp_path: Path, place: str, found: str
) -> None:
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
def test_from_file_refuses_a_damaged_file(tmp_path: Path, content: bytes, found: str) -> None:
    file = tmp_path / "ranks"
    file.write_bytes(content)
    with pytest.raises(ModelFilesError, match=found) as caught:
        load_tokenizer(f"tiktoken:{file}#gpt2")
    assert str(file) in str(caught.value)
    assert caught.value.__suppress_context__


def test_from_file_names_the_backend_for_a_file_of_another_kind(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.model"
    file.write_bytes(_sentencepiece())
    with pytest.raises(ModelFilesError, match="sentencepiece:FILE"):
        load_tokenizer(f"tiktoken:{file}#gpt2")
    file.write_bytes(write_ranks(BYTES))
    with pytest.raises(ModelFilesError, match="tiktoken:FILE#PATTERN"):
        load_tokenizer(f"sentencepiece:{file}")


@pytest.mark.parametrize("name", ["absent", "."])
def test_from_file_refuses_a_missing_file_and_a_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelFilesError, match="check the path"):
        TiktokenTokenizer.from_file(tmp_path / name, "gpt2")


# Encodings in memory


def encoding(pattern: str, special: dict[str, int] | None = None) -> tiktoken.Encoding:
    return tiktoken.Encoding(
        "mine", pat_str=pattern, mergeable_ranks=ranks_of_trained(), special_tokens=special or {}
    )


def test_wrap_takes_an_encoding_like_the_file_of_its_ranks() -> None:
    wrapped = wrap(encoding(O200K_PATTERN))
    assert wrapped.digest() == TIKTOKEN["tiktoken-small"]().digest()
    assert Verifier(wrapped).method == "table"


def test_wrap_makes_the_special_tokens_of_an_encoding_special() -> None:
    plain = TIKTOKEN["tiktoken-small"]()
    end = plain.vocab_size + 4
    found = encoding(O200K_PATTERN, {"<|endoftext|>": end})
    wrapped = wrap(found)
    assert wrap(found) is wrapped
    assert isinstance(wrapped, NamingTokenizer)
    assert wrapped.vocab_size == found.n_vocab == end + 1
    assert {end, end - 1} <= wrapped.special_ids
    assert (wrapped.token_name(end), wrapped.token_name(97)) == ("<|endoftext|>", "")
    assert wrapped.unknown_ids == frozenset()
    assert wrapped.encode("a<|endoftext|>") == plain.encode("a<|endoftext|>")
    assert wrapped.decode([97, end, 98]) == "ab"
    assert wrapped.digest() != plain.digest()
    assert compare(found, [97, end, 98]).consistent


@pytest.mark.parametrize("ranks", [{b"a": 0}, {**BYTES, b"ab": 10**9}])
def test_wrap_refuses_an_encoding_without_a_token_for_each_byte_or_with_a_far_id(
    ranks: dict[bytes, int],
) -> None:
    made = tiktoken.Encoding("mine", pat_str="a", mergeable_ranks=ranks, special_tokens={})
    with pytest.raises(ModelFilesError, match=r"a token for every byte|expected ids up to"):
        wrap(made)


(FASTER,) = EQUIVALENT


@given(text=contract.texts | st.text("a' \n\t1!é\u3000SsTtRrEe"))
@example(text="a \n ")
@example(text="don't'S 12  x")
def test_equivalent_pattern_splits_every_text_alike(text: str) -> None:
    assert regex.findall(FASTER, text) == regex.findall(EQUIVALENT[FASTER], text)


CL100K_TODAY = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)


def test_wrap_verifies_an_encoding_with_the_pattern_of_cl100k_of_today_by_tables() -> None:
    verifier = Verifier(wrap(encoding(CL100K_TODAY)))
    assert (verifier.method, verifier.why) == ("table", "")


def test_wrap_verifies_an_encoding_with_the_faster_pattern_by_tables() -> None:
    wrapped = wrap(encoding(FASTER))
    assert Verifier(wrapped).method == "table"
    assert compare(wrapped, wrapped.encode("The quick brown fox, isn't it?  \n")).consistent


def test_wrap_refuses_tokens_that_the_pattern_of_an_encoding_drops() -> None:
    wrapped = wrap(encoding(r"[\p{L}\p{M}]+|\p{N}{1,3}|[\p{P}\p{S}]+|\s+"))
    assert wrapped.encode("The word\0") == wrapped.encode("The word")
    verifier = Verifier(wrapped)
    assert verifier.method == "retokenize"
    assert "drops text" in verifier.why
    admitted = verifier.start(wrapped.encode("The word")).admits([0, ord("!")])
    assert admitted.tolist() == [False, True]


def test_wrap_verifies_an_encoding_whose_pattern_of_its_own_matches_every_text_by_tables() -> None:
    assert Verifier(wrap(encoding(r"\p{L}+|\p{N}|\s+|."))).method == "table"
