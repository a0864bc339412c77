"""The Hugging Face adapter against the library, on trained and on real tokenizers."""

from __future__ import annotations

import json
import pickle
import unicodedata
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from operator import methodcaller
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sentencepiece import sentencepiece_model_pb2
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from tests.support import tokenizer_contract as contract
from tests.support.random_tokenizers import JsonTokenizer
from tests.support.reference_encoder import ReferenceEncoder, comparable
from tests.support.slow import FEW_TOKENIZERS, slow_unless
from tests.support.tokenizers import (
    CL100K_PATTERN,
    HUGGING_FACE,
    LLAMA_3_SPECIAL,
    O200K_PATTERN,
    REAL_HUGGING_FACE,
    SENTENCEPIECE,
    SPLIT_FIRST,
    sample_text,
)
from ticore.backend_kit import byte_alphabet
from ticore.consistency import Verifier
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import AddedTokenFlags, NamingTokenizer, Split
from ticore.registry import load_tokenizer, wrap
from ticore.testing import TokenizerContract
from ticore_tokenizers import HuggingFaceTokenizer
from ticore_tokenizers._pretokenizers import GPT2_PATTERN
from ticore_tokenizers._soundness import require_sound

ALL = HUGGING_FACE | REAL_HUGGING_FACE
BYTE_LEVEL = {
    name: ALL[name]
    for name in (
        "hf-gpt2",
        "hf-cl100k",
        "hf-o200k",
        "hf-two-splits",
        "hf-ignore-merges",
        "gpt2",
        "llama-3-json",
    )
}
NFC = {name: ALL[name] for name in ("hf-cl100k-nfc", "qwen2.5")}
LLAMA = {name: ALL[name] for name in ("hf-llama", "llama-2-json")}

any_tokenizer = pytest.mark.parametrize("name", ALL)


def library_of(tokenizer: HuggingFaceTokenizer) -> Tokenizer:
    return tokenizer._library


def byte_level() -> Tokenizer:
    """Byte-level BPE without merges: one token a byte, ids as in `byte_alphabet`."""
    tokenizer = Tokenizer(models.BPE(byte_alphabet(), []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def changed(change: Callable[[Any], None]) -> HuggingFaceTokenizer:
    """`byte_level` with its JSON changed in place by `change`."""
    state = json.loads(byte_level().to_str())
    change(state)
    return HuggingFaceTokenizer(Tokenizer.from_str(json.dumps(state)))


class TestContract(TokenizerContract):
    examples = (
        (35, 300),  # Llama's byte token of a space: Strip takes this one too
        (229, 1, 153, 132),  # a special token inside a character spelled in bytes
        (229, 153, 132),  # U+2581 spelled in bytes is no space
        (243, 68),  # an unfinished character, then an ASCII letter
    )

    @pytest.fixture(
        params=slow_unless(FEW_TOKENIZERS, [name for name in ALL if name != "hf-metaspace"])
    )
    def tokenizer(self, request: pytest.FixtureRequest) -> HuggingFaceTokenizer:
        return ALL[request.param]()


class TestContractWithAnEmptyToken(TokenizerContract):
    """No text gives it, and it writes nothing."""

    @pytest.fixture(params=["hf-cl100k", "hf-ignore-merges", "hf-llama"])
    def tokenizer(self, request: pytest.FixtureRequest) -> HuggingFaceTokenizer:
        return with_empty_token(request.param)

    def test_it_is_verified_by_tables_all_the_same(self, tokenizer: HuggingFaceTokenizer) -> None:
        (empty,) = {i for i in tokenizer.special_ids if tokenizer.token_name(i) == ""}
        verifier = Verifier(tokenizer)
        assert verifier.method == "table"
        assert not verifier.start(tokenizer.encode("The")).mask()[empty]


def with_empty_token(name: str) -> HuggingFaceTokenizer:
    state = json.loads(library_of(HUGGING_FACE[name]()).to_str())
    vocab = state["model"]["vocab"]
    vocab[""] = max(vocab.values()) + 1
    return HuggingFaceTokenizer(Tokenizer.from_str(json.dumps(state)))


class TestContractWhereSpacesAreSqueezed(TestContract):
    removes_all_leading_spaces = True

    @pytest.fixture(params=["hf-metaspace"])
    def tokenizer(self, request: pytest.FixtureRequest) -> HuggingFaceTokenizer:
        return ALL[request.param]()


# Token bytes and texts


@pytest.mark.parametrize("name", BYTE_LEVEL)
@given(text=contract.texts)
@example(text="")
@example(text="a\x00b")
def test_encode_gives_tokens_whose_bytes_are_the_text(name: str, text: str) -> None:
    tokenizer = BYTE_LEVEL[name]()
    assert contract.joined_bytes(tokenizer, tokenizer.encode(text)) == text.encode()


@pytest.mark.slow
@pytest.mark.parametrize("name", LLAMA)
@given(text=contract.texts)
@example(text="")
@example(text=" ")
@example(text="▁")
def test_encode_gives_tokens_whose_bytes_are_a_space_and_the_text(name: str, text: str) -> None:
    tokenizer = LLAMA[name]()
    ids = tokenizer.encode(text)
    if tokenizer.special_ids.isdisjoint(ids):  # the text may hold "<s>"
        expected = (" " + text if text else "").replace("▁", " ")
        assert contract.joined_bytes(tokenizer, ids) == expected.encode()


@pytest.mark.parametrize("name", NFC)
def test_encode_gives_tokens_whose_bytes_are_the_normal_form(name: str) -> None:
    tokenizer = NFC[name]()
    for text in sample_text(20, seed=1):
        expected = unicodedata.normalize("NFC", text).encode()
        assert contract.joined_bytes(tokenizer, tokenizer.encode(text)) == expected


@pytest.mark.slow
@any_tokenizer
@given(text=contract.texts, draws=contract.numbers)
def test_encode_and_decode_equal_the_library(name: str, text: str, draws: list[int]) -> None:
    tokenizer = ALL[name]()
    library = library_of(tokenizer)
    assert tokenizer.encode(text) == library.encode(text, add_special_tokens=False).ids
    ids = contract.any_ids(tokenizer, draws)
    assert tokenizer.decode(ids) == library.decode(ids, skip_special_tokens=True)


def test_byte_alphabet_equals_that_of_the_library() -> None:
    assert sorted(byte_alphabet()) == sorted(pre_tokenizers.ByteLevel.alphabet())
    assert sorted(byte_alphabet().values()) == list(range(256))
    for mark, byte in byte_alphabet().items():
        assert decoders.ByteLevel().decode([mark]) == bytes([byte]).decode(errors="replace")


def test_decode_removes_all_spaces_of_the_first_token_under_metaspace() -> None:
    """The library drops every ▁ of the first token, also those inside it."""
    vocab = {"<unk>": 0, "▁a▁b": 1, "▁▁": 2}
    library = Tokenizer(models.BPE(vocab, [], unk_token="<unk>"))
    library.decoder = decoders.Metaspace()
    tokenizer = HuggingFaceTokenizer(library)
    assert [tokenizer.token_bytes(i) for i in (1, 2)] == [b" a b", b"  "]
    assert tokenizer.decode([1, 1]) == "ab a b"
    assert tokenizer.decode([2, 1]) == " a b"


def test_added_tokens_are_special_only_where_marked() -> None:
    library = byte_level()
    library.add_special_tokens(["<|end|>"])
    library.add_tokens(["a b", "日本"])
    tokenizer = HuggingFaceTokenizer(library)
    assert tokenizer.special_ids == {256}
    assert [tokenizer.token_bytes(i) for i in (256, 257, 258)] == [b"", b"a b", "日本".encode()]
    assert tokenizer.encode("a b日本<|end|>") == [257, 258, 256]
    assert tokenizer.decode([257, 256, 258]) == "a b日本"


def test_token_bytes_of_an_added_token_named_like_a_byte_are_that_byte() -> None:
    """ "é" is how a byte-level vocabulary writes the byte E9, and so the library decodes it."""
    library = byte_level()
    library.add_tokens(["é"])
    tokenizer = HuggingFaceTokenizer(library)
    assert tokenizer.encode("é") == [0xE9]
    assert tokenizer.token_bytes(0xE9) == b"\xe9"
    assert tokenizer.decode([0xE9]) == "\ufffd"
    assert tokenizer.structure() is None


@pytest.mark.parametrize(
    "name", ["<0x0A>", "<0x0a>", "<0x+A>", "<0x+a>", "<0x-0>", "<0x A>", "<0x++>"]
)
def test_token_bytes_of_a_name_are_a_byte_where_the_decoder_writes_one(name: str) -> None:
    """The library reads two hexadecimal digits, or one with a plus sign before it."""
    state = json.loads(library_of(HUGGING_FACE["hf-llama"]()).to_str())
    vocab = state["model"]["vocab"]
    token = vocab.setdefault(name, max(vocab.values()) + 1)
    tokenizer = HuggingFaceTokenizer(Tokenizer.from_str(json.dumps(state)))
    word = tokenizer.encode("a")
    written = tokenizer.decode([*word, token]).removeprefix("a")
    assert tokenizer.token_bytes(token) == written.encode()


def test_special_ids_include_ids_that_are_left_out() -> None:
    tokenizer = changed(lambda state: state["model"]["vocab"].update({"Ġa": 300}))
    assert tokenizer.vocab_size == 301
    assert tokenizer.special_ids == set(range(256, 300))
    assert tokenizer.decode([97, 299, 300]) == "a a"


def test_special_ids_include_the_unknown_token() -> None:
    tokenizer = HUGGING_FACE["hf-metaspace"]()
    assert tokenizer.special_ids == {0}
    assert tokenizer.token_bytes(0) == b"<unk>"
    unigram = Tokenizer(models.Unigram([("▁a", -1.0), ("?", -9.0)], 1, False))
    unigram.decoder = decoders.Metaspace()
    assert HuggingFaceTokenizer(unigram).special_ids == {1}


def test_encode_neither_truncates_nor_pads() -> None:
    library = byte_level()
    library.enable_truncation(3)
    library.enable_padding(length=8)
    tokenizer = HuggingFaceTokenizer(library)
    assert tokenizer.encode("abcde") == list(b"abcde")
    assert tokenizer.encode_batch(["abcde", "a"]) == [list(b"abcde"), list(b"a")]
    assert library.truncation is not None
    assert tokenizer.digest() == HuggingFaceTokenizer(byte_level()).digest()


# Structure

BYTE_TRAITS = {"kind": "bpe", "atoms": "bytes", "pretokenizer": (CL100K_PATTERN,)}
MARK_TRAITS = {"kind": "bpe", "atoms": "characters", "dummy_prefix": True}
END = {"<|endoftext|>": 0}
LLAMA_ADDED = {"<unk>": 0, "<s>": 1, "</s>": 2}


@pytest.mark.parametrize(
    ("name", "traits"),
    [
        ("hf-gpt2", BYTE_TRAITS | {"pretokenizer": (GPT2_PATTERN,), "added_tokens": END}),
        ("hf-cl100k", BYTE_TRAITS | {"added_tokens": END}),
        ("hf-cl100k-nfc", BYTE_TRAITS | {"normalizer": "nfc", "added_tokens": END}),
        ("hf-o200k", BYTE_TRAITS | {"pretokenizer": (O200K_PATTERN,), "added_tokens": END}),
        (
            "hf-two-splits",
            BYTE_TRAITS | {"pretokenizer": (*SPLIT_FIRST, GPT2_PATTERN), "added_tokens": END},
        ),
        ("hf-ignore-merges", BYTE_TRAITS | {"ignore_merges": True, "added_tokens": END}),
        ("hf-llama", MARK_TRAITS | {"added_tokens": LLAMA_ADDED}),
        ("hf-metaspace", MARK_TRAITS | {"normalizer": "metaspace", "pretokenizer": (" [^ ]*",)}),
        (
            "gpt2",
            BYTE_TRAITS
            | {"pretokenizer": (GPT2_PATTERN,), "added_tokens": {"<|endoftext|>": 50256}},
        ),
        (
            "qwen2.5",
            BYTE_TRAITS
            | {
                "normalizer": "nfc",
                "pretokenizer": (CL100K_PATTERN.replace("{1,3}", ""),),
                "added_tokens": {
                    "<|endoftext|>": 151643,
                    "<|im_start|>": 151644,
                    "<|im_end|>": 151645,
                },
            },
        ),
        ("llama-2-json", MARK_TRAITS | {"added_tokens": LLAMA_ADDED}),
        (
            "llama-3-json",
            BYTE_TRAITS
            | {
                "ignore_merges": True,
                "added_tokens": LLAMA_3_SPECIAL,
            },
        ),
    ],
)
def test_structure_states_the_traits_of_the_file(name: str, traits: dict[str, object]) -> None:
    structure = ALL[name]().structure()
    assert contract.traits(structure) == traits
    assert structure is not None
    assert len(structure.byte_ids) == (256 if name in LLAMA else 0)


def test_normalize_equals_that_of_the_library() -> None:
    structure = HUGGING_FACE["hf-cl100k-nfc"]().structure()
    assert structure is not None
    assert structure.normalize is not None
    assert structure.normalize(" Zu\u0308rich\u212b ") == " Z\u00fcrich\u00c5 "


def test_structure_counts_unreachable_tokens_as_pieces() -> None:
    """No rule gives them, but where they are a whole part of the text they stay whole."""
    tokenizer = HUGGING_FACE["hf-ignore-merges"]()
    structure = tokenizer.structure()
    assert structure is not None
    assert structure.merges is not None
    results = set(structure.merges[:, 2].tolist())
    alone = [
        i
        for i in range(tokenizer.vocab_size)
        if structure.pieces[i] and i not in results and len(tokenizer.token_bytes(i)) > 1
    ]
    assert len(alone) > 30
    assert any(tokenizer.encode(tokenizer.decode([i])) == [i] for i in alone)


@given(text=contract.texts)
def test_gpt2_pattern_splits_like_the_library(text: str) -> None:
    spelled_out = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(GPT2_PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    built_in = pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert spelled_out.pre_tokenize_str(text) == built_in.pre_tokenize_str(text)


METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
REMOVED = {
    "type": "Split",
    "pattern": {"Regex": " "},
    "behavior": "Removed",
    "invert": False,
}


def _split_off(state: Any) -> None:
    state["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [REMOVED, state["pre_tokenizer"]],
    }


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda s: s["model"].update(continuing_subword_prefix="##"), id="prefix"),
        pytest.param(lambda s: s["model"].update(end_of_word_suffix="@"), id="suffix"),
        pytest.param(
            lambda s: s["model"].update(byte_fallback=True, vocab=_without(s, "Ā")),
            id="a byte missing, with fallback",
        ),
        pytest.param(
            lambda s: s["model"].update(
                ignore_merges=True, unk_token="ab", vocab=s["model"]["vocab"] | {"ab": 256}
            ),
            id="unknown token is a text",
        ),
        pytest.param(
            lambda s: s.update(
                normalizer={"type": "Strip", "strip_left": True, "strip_right": True}
            ),
            id="normalizer",
        ),
        pytest.param(lambda s: s.update(pre_tokenizer=None), id="no pre-tokenizer"),
        pytest.param(
            lambda s: s.update(pre_tokenizer=_after_digits(s["pre_tokenizer"])),
            id="a space before each part",
        ),
        pytest.param(lambda s: s.update(decoder=METASPACE), id="decoder"),
    ],
)
def test_structure_is_none_where_none_is_exact(change: Callable[[Any], None]) -> None:
    assert HuggingFaceTokenizer(byte_level()).structure() is not None
    assert changed(change).structure() is None


def test_structure_says_that_spaces_are_removed() -> None:
    structure = changed(_split_off).structure()
    assert structure is not None
    assert isinstance(structure.pretokenizer[0], Split)
    assert structure.pretokenizer[0].behavior == "removed"


def _after_digits(byte_level: Any) -> Any:
    steps = [
        {"type": "Digits", "individual_digits": True},
        byte_level | {"add_prefix_space": True},
    ]
    return {"type": "Sequence", "pretokenizers": steps}


def _without(state: Any, name: str) -> dict[str, int]:
    return {other: i for other, i in state["model"]["vocab"].items() if other != name}


def _with_rule(state: Any, left: str, right: str) -> None:
    ids = state["model"]["vocab"]
    ids.setdefault(left + right, max(ids.values()) + 1)
    state["model"]["merges"].append([left, right])


def _with_added(state: Any, text: str, special: bool) -> None:
    token = state["added_tokens"][-1]
    state["added_tokens"].append(token | {"id": 5000, "content": text, "special": special})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        pytest.param("hf-llama", lambda s: s["model"].update(ignore_merges=True), id="whole parts"),
        pytest.param("hf-llama", lambda s: s["decoder"]["decoders"].pop(), id="prefix stays"),
        pytest.param(
            "hf-llama",
            lambda s: s.update(normalizer=s["normalizer"]["normalizers"][1]),
            id="no prefix to take away",
        ),
        pytest.param(
            "hf-llama", lambda s: _with_rule(s, "<0x41>", "<0x42>"), id="rule for two bytes"
        ),
        pytest.param(
            "hf-llama", lambda s: _with_added(s, "<doc>", False), id="prefix after an added token"
        ),
        pytest.param(
            "hf-llama", lambda s: _with_added(s, " <doc>", True), id="added token with a prefix"
        ),
        pytest.param(
            "hf-llama",
            lambda s: s.update(pre_tokenizer=REMOVED),
            id="spaces removed",
        ),
        pytest.param("hf-metaspace", lambda s: _with_rule(s, "a", "▁"), id="a space inside"),
        pytest.param("hf-metaspace", lambda s: s["model"].update(unk_token=None), id="lost"),
        pytest.param(
            "hf-metaspace",
            lambda s: s["model"].update(
                byte_fallback=True,
                vocab=s["model"]["vocab"] | {f"<0x{b:02X}>": 1000 + b for b in range(256)},
            ),
            id="bytes decoded by name",
        ),
        pytest.param(
            "hf-metaspace",
            lambda s: s.update(decoder=METASPACE | {"prepend_scheme": "never"}),
            id="prefix stays",
        ),
    ],
)
def test_structure_is_none_where_spaces_are_marked_in_another_way(
    name: str, change: Callable[[Any], None]
) -> None:
    state = json.loads(library_of(HUGGING_FACE[name]()).to_str())
    change(state)
    tokenizer = HuggingFaceTokenizer(Tokenizer.from_str(json.dumps(state)))
    assert tokenizer.structure() is None


def test_structure_is_none_where_a_space_is_unknown() -> None:
    vocab = {"<unk>": 0, "a": 1}
    for mark in ({"▁": 2}, {}):
        library = Tokenizer(models.BPE(vocab | mark, [], unk_token="<unk>"))
        library.normalizer = normalizers.Replace(" ", "▁")
        library.decoder = decoders.Metaspace("▁", "never")
        assert (HuggingFaceTokenizer(library).structure() is not None) == bool(mark)


def unigram_with_bytes() -> HuggingFaceTokenizer:
    """Unigram with a token for each byte."""
    return JsonTokenizer(
        "unigram",
        scores=((" ", -1.0), ("a", -2.0), (" a", -2.5)),
        pretokenizers=({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"},),
        byte_fallback=True,
        decoder="llama",
    ).open()


def _with_special_byte(state: Any) -> None:
    byte = {"id": 1, "content": "<0x00>", "special": True}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    state["added_tokens"].append(byte | flags)


def _without_unknown(state: Any) -> None:
    """The token of the byte 0 is the unknown one."""
    state["added_tokens"] = state["added_tokens"][1:]
    model = state["model"]
    unknown = {"unk_token": "<0x00>"} if model["type"] == "BPE" else {"unk_id": 1}
    model.update(unknown)


@pytest.mark.parametrize(
    ("tokenizer", "change"),
    [
        pytest.param(unigram_with_bytes, _with_special_byte, id="unigram, special"),
        pytest.param(unigram_with_bytes, _without_unknown, id="unigram, unknown"),
        pytest.param(HUGGING_FACE["hf-llama"], _without_unknown, id="bpe, unknown"),
    ],
)
def test_structure_is_none_where_the_token_of_a_byte_is_special(
    tokenizer: Callable[[], HuggingFaceTokenizer], change: Callable[[Any], None]
) -> None:
    """`encode` gives it for the byte, but no list that holds it comes back."""
    state = json.loads(library_of(tokenizer()).to_str())
    assert HuggingFaceTokenizer(Tokenizer.from_str(json.dumps(state))).structure() is not None
    change(state)
    found = HuggingFaceTokenizer(Tokenizer.from_str(json.dumps(state)))
    token = found.encode("a\0")[-1]
    assert token in found.special_ids
    assert found.structure() is None
    assert "'<0x00>'" in found.no_structure_reason
    assert not Verifier(found).start(found.encode("a")).mask()[token]


def test_structure_is_none_where_the_space_before_a_text_would_complete_an_added_token() -> None:
    """The library looks for added tokens before it puts a space before a text."""
    spaced = JsonTokenizer(
        "unigram",
        scores=((" ", -1.0), ("a", -2.0), (" a", -2.5)),
        pretokenizers=({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},),
        byte_fallback=True,
        decoder="llama",
        strips=True,
    )
    assert spaced.open().structure() is not None
    tokenizer = replace(spaced, added=((" [SEP]", ("special",)),)).open()
    ids = tokenizer.encode("[SEP] a")
    assert tokenizer.encode(tokenizer.decode(ids)) == ids
    assert Verifier(tokenizer).start(ids).consistent
    assert tokenizer.structure() is None
    assert "its added token ' [SEP]' begins with a space" in tokenizer.no_structure_reason


@pytest.mark.parametrize("flag", ["lstrip", "rstrip"])
def test_structure_is_none_where_added_tokens_take_spaces(flag: str) -> None:
    library = byte_level()
    library.add_tokens([AddedToken("<x>", **{flag: True})])
    tokenizer = HuggingFaceTokenizer(library)
    assert tokenizer.structure() is None
    assert f"its added token '<x>' has the flag {flag}" in tokenizer.no_structure_reason


def test_a_single_word_that_is_discarded_hides_what_it_overlaps() -> None:
    """Why one that may overlap another added token matters to the end of a text."""
    library = byte_level()
    library.add_special_tokens([AddedToken("<x>", single_word=True), AddedToken(">y")])
    assert "<x>" not in library.encode("<x>y").tokens
    assert ">y" not in library.encode("<x>y").tokens
    assert ">y" in library.encode("x>y").tokens


@pytest.mark.parametrize("special", [True, False])
def test_structure_has_the_single_words(special: bool) -> None:
    library = byte_level()
    add = library.add_special_tokens if special else library.add_tokens
    add([AddedToken(text, single_word=True) for text in ("<x>", ">y", "é b")])
    structure = HuggingFaceTokenizer(library).structure()
    assert structure is not None
    assert structure.added_flags == dict.fromkeys(
        ("<x>", ">y", "é b"), AddedTokenFlags(single_word=True)
    )


@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word"])
def test_structure_has_the_flags_of_special_tokens(flag: str) -> None:
    library = byte_level()
    library.add_special_tokens([AddedToken("<x>", **{flag: True}), AddedToken("<y>")])
    structure = HuggingFaceTokenizer(library).structure()
    assert structure is not None
    assert structure.added_flags == {"<x>": AddedTokenFlags(**{flag: True})}


def test_structure_is_none_where_a_token_takes_the_spaces_of_another_one() -> None:
    """The library itself fails at some such texts."""
    library = byte_level()
    library.add_special_tokens([AddedToken("<x>", rstrip=True)])
    library.add_tokens([AddedToken("  ")])
    tokenizer = HuggingFaceTokenizer(library)
    assert tokenizer.structure() is None
    assert "'<x>' takes spaces beside it" in tokenizer.no_structure_reason


def test_structure_is_none_where_added_tokens_are_found_in_two_passes() -> None:
    """Tokens of the second pass are found in what the first one leaves, unless they are apart."""
    for second, described in (("[y]", True), ("<x>y", False), (">z", False), ("y<", False)):
        library = byte_level()
        library.add_tokens([AddedToken("<x>", normalized=False)])
        library.add_tokens([AddedToken(second, normalized=True)])
        assert (HuggingFaceTokenizer(library).structure() is not None) == described
    assert library.encode("y<x>").tokens == ["y", "<x>"]  # one pass would find y< first


def test_structure_is_none_where_added_tokens_are_normalized() -> None:
    library = byte_level()
    library.normalizer = normalizers.NFC()
    library.add_tokens([AddedToken("<x>", normalized=True)])
    assert HuggingFaceTokenizer(library).structure() is None


@pytest.mark.parametrize("text", ["  ", "|||x|||", "<1", "\t\t"])
def test_structure_is_exact_where_normalization_moves_no_added_token(text: str) -> None:
    for normalizer in (normalizers.NFC(), normalizers.Sequence([])):
        library = byte_level()
        library.normalizer = normalizer
        library.add_tokens([AddedToken(text, normalized=True)])
        tokenizer = HuggingFaceTokenizer(library)
        structure = tokenizer.structure()
        assert structure is not None
        reference = ReferenceEncoder(tokenizer, structure)
        for around in ("a", "\u0301", "e\u0301", "\u0338", text[-1], "\u212a", "\u2002"):
            for read in (around + text + around, text + around, around + text):
                expected = comparable(tokenizer.encode(read), tokenizer, structure)
                assert reference.encode(read) == expected


@pytest.mark.parametrize("text", ["xa", "x=", "xé", "\u0301"])
def test_structure_is_none_where_normalization_moves_an_added_token(text: str) -> None:
    library = byte_level()
    library.normalizer = normalizers.NFC()
    library.add_tokens([AddedToken(text, normalized=True)])
    tokenizer = HuggingFaceTokenizer(library)
    assert tokenizer.structure() is None
    assert repr(text) in tokenizer.no_structure_reason


def test_structure_is_none_where_a_normalizer_creates_an_added_token() -> None:
    """Then it is found too late to be set apart, and the model gives its id all the same."""
    vocab = byte_alphabet() | {"KK": 256}
    library = Tokenizer(models.BPE(vocab, [("K", "K")]))
    library.pre_tokenizer, library.decoder = byte_level().pre_tokenizer, byte_level().decoder
    library.add_tokens([AddedToken("KK", normalized=False)])
    assert HuggingFaceTokenizer(library).structure() is not None
    library.normalizer = normalizers.NFC()
    assert library.encode("\u212a\u212aKKK").ids == [256, 256, ord("K")]
    assert HuggingFaceTokenizer(library).structure() is None


@pytest.mark.parametrize(
    "normalizer",
    [
        {"type": "Replace", "pattern": {"String": "\r\n"}, "content": "\n"},
        {"type": "NFKC"},
        {"type": "Sequence", "normalizers": [{"type": "Lowercase"}, {"type": "NFD"}]},
    ],
)
def test_a_copy_normalizes_alike(normalizer: dict[str, object]) -> None:
    """The library cannot copy each normalizer that stands alone."""
    tokenizer = changed(methodcaller("update", normalizer=normalizer))
    structure = pickle.loads(pickle.dumps(tokenizer)).structure()
    for text in ("A\r\nb", "\ufb01 É"):
        expected = tokenizer._library.normalizer.normalize_str(text)
        assert structure.normalize(text) == expected


# Digest and files

NO_CHARSMAP = '"normalizer":{"type":"Precompiled"}'


def test_digest_tells_tokenizers_apart() -> None:
    digests = {HUGGING_FACE[name]().digest() for name in HUGGING_FACE}
    assert len(digests) == len(HUGGING_FACE)
    assert (
        HuggingFaceTokenizer(byte_level()).digest() == HuggingFaceTokenizer(byte_level()).digest()
    )


def test_digest_ignores_the_layout_of_the_file(tmp_path: Path) -> None:
    state = json.loads(byte_level().to_str())
    files = tmp_path / "a.json", tmp_path / "b.json"
    files[0].write_text(json.dumps(state), encoding="utf-8")
    files[1].write_text(
        json.dumps(dict(reversed(state.items())), indent=2, ensure_ascii=False), encoding="utf-8"
    )
    first, second = (HuggingFaceTokenizer.from_file(file) for file in files)
    assert first.digest() == second.digest()


@pytest.mark.parametrize("place", ["tokenizers:{0}/tokenizer.json", "tokenizers:{0}"])
def test_load_tokenizer_opens_a_file_and_a_folder(tmp_path: Path, place: str) -> None:
    tokenizer = HUGGING_FACE["hf-llama"]()
    library_of(tokenizer).save(str(tmp_path / "tokenizer.json"))
    again = load_tokenizer(place.format(tmp_path))
    assert again.digest() == tokenizer.digest()
    assert again.encode_batch(sample_text(3)) == tokenizer.encode_batch(sample_text(3))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b'{"model": {}}',
        b'{"hello": "world"}',
        byte_level().to_str().encode()[:-20],
        # This one panics inside the library.
        byte_level().to_str().replace('"normalizer":null', NO_CHARSMAP).encode(),
    ],
)
def test_from_file_refuses_a_damaged_file(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_bytes(content)
    with pytest.raises(ModelFilesError, match="found something else") as caught:
        HuggingFaceTokenizer.from_file(file)
    assert str(file) in str(caught.value)
    assert caught.value.__suppress_context__


def test_from_file_refuses_a_number_that_python_cannot_read(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_text(byte_level().to_str().replace('"!":33', f'"!":{"1" * 5000}'))
    (tmp_path / "deep.json").write_text("[" * 100_000)
    for path in (file, tmp_path / "deep.json"):
        with pytest.raises(ModelFilesError, match="found something else"):
            HuggingFaceTokenizer.from_file(path)


# What the library takes, and then counts for ever, aborts at, or panics at

PREFIXES = ["#", "##", "\x00", "é", "Ā", "a" * 50]


def _file(folder: Path, change: Callable[[Any], None], name: str = "") -> Path:
    """A tokenizer.json: that of a trained tokenizer, or `byte_level`, changed."""
    library = library_of(HUGGING_FACE[name]()) if name else byte_level()
    state = json.loads(library.to_str())
    change(state)
    file = folder / "tokenizer.json"
    file.write_text(json.dumps(state), encoding="utf-8")
    return file


@pytest.mark.parametrize("absurd", [150_000, 10**8, 2**31, 2**32 - 1])
def test_from_file_refuses_an_id_that_is_far_too_high(tmp_path: Path, absurd: int) -> None:
    library = byte_level()
    library.add_special_tokens(["<x>"])
    for change in (
        lambda state: state["model"]["vocab"].update({"!": absurd}),
        lambda state: state["added_tokens"].append(
            json.loads(library.to_str())["added_tokens"][0] | {"id": absurd}
        ),
    ):
        with pytest.raises(ModelFilesError, match=f"found the id {absurd:,}"):
            HuggingFaceTokenizer.from_file(_file(tmp_path, change))


def test_a_tokenizer_in_memory_with_an_id_far_too_high_is_refused() -> None:
    library = Tokenizer(models.BPE(byte_alphabet() | {"ab": 2**31}, []))
    with pytest.raises(ModelFilesError, match="found the id 2,147,483,648"):
        HuggingFaceTokenizer(library)


@given(ids=st.lists(st.integers(0, 400_000), min_size=1, max_size=9, unique=True))
@example(ids=[100_008, 0])
@example(ids=[100_009, 0])
def test_ids_may_be_left_out_up_to_a_limit(ids: list[int]) -> None:
    library = Tokenizer(models.WordLevel({str(i): i for i in ids}, unk_token=str(ids[0])))
    library.decoder = decoders.ByteLevel()
    if max(ids) > 4 * len(ids) + 100_000:
        with pytest.raises(ModelFilesError, match="expected ids up to"):
            HuggingFaceTokenizer(library)
    else:
        assert HuggingFaceTokenizer(library).vocab_size == max(ids) + 1


@pytest.mark.parametrize("prefix", PREFIXES)
def test_from_file_refuses_merges_without_the_subword_prefix(tmp_path: Path, prefix: str) -> None:
    """The library would cut it off them all the same, within a character, and abort."""

    def change(state: dict[str, Any]) -> None:
        state["model"]["continuing_subword_prefix"] = prefix

    with pytest.raises(ModelFilesError, match="begins with continuing_subword_prefix"):
        HuggingFaceTokenizer.from_file(_file(tmp_path, change, "hf-gpt2"))


def test_from_file_opens_merges_with_the_subword_prefix() -> None:
    vocab = byte_alphabet() | {"##b": 256, "ab": 257}
    library = Tokenizer(models.BPE(vocab, [("a", "##b")], continuing_subword_prefix="##"))
    require_sound(json.loads(library.to_str()))


@pytest.mark.parametrize(
    "charsmap",
    [
        b"",
        b"\xff" * 64,  # more memory than there is: the library would abort
        b"\x04\x00\x00",
        b"\x05\x00\x00\x00abcd",
        (2**32 - 4).to_bytes(4, "little") + bytes(100),
        bytes(64),
    ],
)
def test_from_file_refuses_a_malformed_character_map(tmp_path: Path, charsmap: bytes) -> None:
    field = {"type": "Precompiled", "precompiled_charsmap": b64encode(charsmap).decode()}
    nested = {"type": "Sequence", "normalizers": [{"type": "NFC"}, field]}
    for normalizer in (field, nested):
        file = _file(tmp_path, methodcaller("update", normalizer=normalizer))
        with pytest.raises(ModelFilesError, match="found an index of"):
            HuggingFaceTokenizer.from_file(file)


def test_from_file_opens_a_proper_character_map(tmp_path: Path) -> None:
    model = sentencepiece_model_pb2.ModelProto.FromString(
        SENTENCEPIECE["sp-unigram-nfkc"]()._library.serialized_model_proto()
    )
    charsmap = b64encode(model.normalizer_spec.precompiled_charsmap).decode()
    field = {"type": "Precompiled", "precompiled_charsmap": charsmap}
    file = _file(tmp_path, lambda state: state.update(normalizer=field))
    assert HuggingFaceTokenizer.from_file(file).encode("\ufb01") == list(b"fi")


def _replacing(old: str, new: str) -> dict[str, object]:
    return {"type": "Replace", "pattern": {"String": old}, "content": new}


@pytest.mark.parametrize(
    ("field", "component", "found"),
    [
        ("normalizer", _replacing("", "x"), "found a Replace of the empty text"),
        (
            "normalizer",
            {"type": "Replace", "pattern": {"Regex": ""}, "content": "x"},
            "of the empty text",
        ),
        ("pre_tokenizer", {"type": "FixedLength", "length": 0}, "parts of length 0"),
        # 2^60 bytes for each character of a text
        (
            "normalizer",
            {"type": "Sequence", "normalizers": [_replacing("a", "aa")] * 60},
            "1,152,921,504,606,846,976 times",
        ),
    ],
)
def test_from_file_refuses_steps_that_fail_when_they_read_a_text(
    tmp_path: Path, field: str, component: object, found: str
) -> None:
    file = _file(tmp_path, lambda state: state.update({field: component}))
    with pytest.raises(ModelFilesError, match=found):
        HuggingFaceTokenizer.from_file(file)


def test_from_file_opens_many_replacements_that_make_texts_no_longer(tmp_path: Path) -> None:
    steps = [_replacing("``", '"'), _replacing("''", '"'), _replacing("ab", "cd")] * 20
    steps.append(_replacing(" ", "▁"))
    chain = {"type": "Sequence", "normalizers": steps}
    file = _file(tmp_path, methodcaller("update", normalizer=chain))
    assert HuggingFaceTokenizer.from_file(file).encode("''") == [ord('"')]


def test_from_file_refuses_a_tokenizer_that_fails_at_some_texts(tmp_path: Path) -> None:
    """A regular expression that finds nothing, everywhere: the library panics at any text."""
    empty = {"type": "Replace", "pattern": {"Regex": "x*"}, "content": "y"}
    words = {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"a": 0}}
    words |= {"continuing_subword_prefix": "##", "max_input_chars_per_word": 100}
    for change in (
        lambda state: state.update(normalizer=empty),
        lambda state: state.update(model=words),
        lambda state: state.update(
            model={
                "type": "Unigram",
                "unk_id": None,
                "vocab": [["a", -1.0]],
                "byte_fallback": False,
            }
        ),
    ):
        with pytest.raises(ModelFilesError, match="found one that fails at") as caught:
            HuggingFaceTokenizer.from_file(_file(tmp_path, change))
        assert str(tmp_path) in str(caught.value)


def test_what_is_no_id_and_no_text_is_refused() -> None:
    contract.check_refusals(HuggingFaceTokenizer(byte_level()))


def test_encode_raises_an_error_of_ticore_when_the_library_fails() -> None:
    contract.check_failures(HuggingFaceTokenizer(byte_level()))


def test_from_file_names_the_backend_for_a_binary_file(tmp_path: Path) -> None:
    file = tmp_path / "tokenizer.model"
    file.write_bytes(b"\x0a\xff\xfe")
    with pytest.raises(ModelFilesError, match="sentencepiece:FILE"):
        HuggingFaceTokenizer.from_file(file)


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_from_file_refuses_a_missing_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelFilesError, match="check the path"):
        HuggingFaceTokenizer.from_file(tmp_path / name)


@pytest.mark.parametrize(
    ("decoder", "named"),
    [
        (None, "found none"),
        (decoders.WordPiece(), "found WordPiece"),
        (decoders.CTC(), "found CTC"),
        (decoders.Sequence([decoders.ByteFallback(), decoders.Strip(" ", 1, 0)]), "ByteFallback"),
        (
            decoders.Sequence(
                [
                    decoders.Replace("▁", " "),
                    decoders.ByteFallback(),
                    decoders.Fuse(),
                    decoders.Strip(" ", 2, 0),
                ]
            ),
            "Strip",
        ),
    ],
)
def test_a_decoder_that_does_not_write_token_by_token_is_refused(
    decoder: decoders.Decoder | None, named: str
) -> None:
    library = byte_level()
    library.decoder = decoder
    with pytest.raises(ModelFilesError, match=named):
        HuggingFaceTokenizer(library)


@pytest.mark.parametrize(
    ("decoder", "advice"),
    [
        (decoders.WordPiece(), r"like BERT's, does not say where its tokens had spaces"),
        (decoders.BPEDecoder(), "does not say where its tokens had spaces"),
        (None, r"if the vocabulary was made by SentencePiece, open its \.model"),
    ],
)
def test_the_error_for_a_decoder_gives_advice_that_fits_it(
    decoder: decoders.Decoder | None, advice: str
) -> None:
    library = byte_level()
    library.decoder = decoder
    with pytest.raises(ModelFilesError, match=advice):
        HuggingFaceTokenizer(library)


def test_a_suffix_of_words_is_refused_by_name() -> None:
    """CLIP's `</w>`: the byte-level decoder leaves it in the text, where it is read as such."""
    vocab = byte_alphabet() | {"a</w>": 256}
    library = Tokenizer(models.BPE(vocab, [], end_of_word_suffix="</w>"))
    library.pre_tokenizer, library.decoder = byte_level().pre_tokenizer, byte_level().decoder
    assert library.decode(library.encode("a").ids) == "a</w>"
    with pytest.raises(ModelFilesError, match="words that end in '</w>'"):
        HuggingFaceTokenizer(library)


def test_a_tokenizer_with_dropout_is_refused() -> None:
    with pytest.raises(ModelFilesError, match=r"dropout 0\.5"):
        changed(lambda state: state["model"].update(dropout=0.5))


def test_a_tokenizer_with_shared_ids_is_refused() -> None:
    with pytest.raises(ModelFilesError, match="two that share one"):
        changed(lambda state: state["model"]["vocab"].update({"ab": 97}))


# Opened by others


def test_wrap_takes_a_tokenizer_and_leaves_it_unchanged() -> None:
    """As it is, though it pads and would add a special token; and it stays as it was."""
    ours = HUGGING_FACE["hf-gpt2"]()
    library = Tokenizer.from_str(ours._library.to_str())
    library.enable_padding(length=9)
    library.post_processor = processors.TemplateProcessing(
        single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)]
    )
    adopted = wrap(library)
    assert adopted.encode("the fox") == ours.encode("the fox")
    assert wrap(library) is adopted
    assert library.padding is not None

    class Fast:
        """A fast tokenizer of transformers, as far as it is looked at."""

        backend_tokenizer = library

    assert wrap(Fast()).encode("the fox") == ours.encode("the fox")
    size = adopted.vocab_size
    library.add_special_tokens(["<|more|>"])
    assert wrap(library).vocab_size == size + 1


def test_wrap_says_why_a_tokenizer_cannot_be_adapted() -> None:
    with pytest.raises(ModelFilesError, match="expected a decoder that spells each token"):
        wrap(Tokenizer(models.BPE()))


def test_token_name_and_unknown_ids_are_those_of_the_library() -> None:
    """A byte-level model knows every text, whatever its file calls unknown."""
    ours = HUGGING_FACE["hf-gpt2"]()
    assert ours.token_name(0) == "<|endoftext|>"
    assert ours.unknown_ids == frozenset()
    assert isinstance(ours, NamingTokenizer)
    state = json.loads(ours._library.to_str())
    state["model"]["unk_token"] = "<|endoftext|>"
    renamed = HuggingFaceTokenizer(Tokenizer.from_str(json.dumps(state)))
    assert renamed.unknown_ids == frozenset()
    assert 0 in renamed.special_ids
    for name in ("hf-llama", "hf-metaspace"):
        tokenizer = HUGGING_FACE[name]()
        assert [tokenizer.token_name(i) for i in tokenizer.unknown_ids] == ["<unk>"]
    holes = HUGGING_FACE["hf-llama"]()
    with pytest.raises(SettingsError, match="found 1048576"):
        holes.token_name(2**20)


def test_a_tokenizer_that_splits_special_tokens_is_refused() -> None:
    library = HUGGING_FACE["hf-gpt2"]()._library
    inner = Tokenizer.from_str(library.to_str())
    inner.encode_special_tokens = True
    with pytest.raises(ModelFilesError, match="found encode_special_tokens"):
        wrap(inner)
    transformers = pytest.importorskip("transformers")
    outer = transformers.PreTrainedTokenizerFast(tokenizer_object=library)
    assert wrap(outer).encode("a") == library.encode("a", add_special_tokens=False).ids
    outer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=library, split_special_tokens=True
    )
    with pytest.raises(ModelFilesError, match="found split_special_tokens"):
        wrap(outer)
