"""Byte-level tokenizers that lack some bytes, built by the library, against the definition."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from tests.support.random_bpe import MODES, few_characters
from tests.support.real_walks import check_library_walk, table_of
from tests.support.tokenizers import CL100K_PATTERN
from ticore.backend_kit import byte_alphabet
from ticore.consistency._engines import build, retokenizing
from ticore.consistency._unsupported import Unsupported
from ticore_tokenizers import HuggingFaceTokenizer

NEVER = bytes([0xC0, 0xC1, *range(0xF5, 0x100)])
LETTERS = {byte: letter for letter, byte in byte_alphabet().items()}
CHARACTERS = "aé日本\u0e3f😀\ufffd\u0301"


def byte_level(
    missing: bytes,
    words: tuple[str, ...] = ("日本", " a", "ab", "\ufffd\ufffd", "é"),
    *,
    whole: bool = False,
    unknown: bool = False,
    nfc: bool = False,
) -> HuggingFaceTokenizer:
    """Byte-level BPE without tokens for some bytes, and with words made from left to right.

    A word that holds such a byte is a token which no merges give.
    """
    names = [LETTERS[byte] for byte in range(256) if byte not in missing]
    merges = []
    for word in words:
        name = "".join(LETTERS[byte] for byte in word.encode())
        if missing and set(word.encode()) & set(missing):
            names.append(name)
            continue
        merges += [(name[:n], name[n]) for n in range(1, len(name))]
    names = list(dict.fromkeys([*names, *(a + b for a, b in merges)]))
    if unknown:
        names.append("<unk>")
    library = Tokenizer(
        models.BPE(
            {name: i for i, name in enumerate(names)},
            list(dict.fromkeys(merges)),
            ignore_merges=whole,
            unk_token="<unk>" if unknown else None,
        )
    )
    if nfc:
        library.normalizer = normalizers.NFC()
    library.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(CL100K_PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    library.decoder = decoders.ByteLevel()
    return HuggingFaceTokenizer(library)


def of_interest(tokenizer: HuggingFaceTokenizer) -> list[int]:
    """All ids but most of the single bytes, so that the definition is quick."""
    told = set(CHARACTERS.encode()) | set(b"a' \n\x80\xf1\x04")
    spelled = map(tokenizer.token_bytes, range(tokenizer.vocab_size))
    return [i for i, data in enumerate(spelled) if len(data) != 1 or data[0] in told]


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=settings.default.max_examples // 2)
@given(
    missing=st.sets(st.sampled_from("日本\u0e3f\ufffd\u0301a1\x04".encode()), max_size=4).map(
        bytes
    ),
    whole=st.booleans(),
    unknown=st.booleans(),
    text=st.text(CHARACTERS + " '\n", max_size=4),
    choices=st.lists(st.integers(0, 99), max_size=3),
)
@example(missing="\ufffd".encode(), whole=False, unknown=False, text="a", choices=[])
@example(missing="\ufffd".encode(), whole=True, unknown=False, text="\ufffd\ufffd", choices=[])
@example(missing="本".encode()[1:], whole=True, unknown=False, text="日本日本", choices=[])
@example(missing="日".encode()[1:2], whole=True, unknown=True, text="日本 a", choices=[99, 3])
def test_engine_answers_as_the_definition_where_bytes_are_missing(
    mode, missing, whole, unknown, text, choices
):
    tokenizer = byte_level(NEVER + missing, whole=whole, unknown=unknown)
    check_library_walk(tokenizer, text, mode, choices, CHARACTERS, of_interest(tokenizer))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("missing", [NEVER, NEVER + b"\x04\xf1", NEVER + "日".encode()[1:2]])
def test_there_are_tables_where_bytes_are_missing(mode, missing):
    tokenizer = byte_level(missing)
    assert check_library_walk(
        tokenizer, "日本é a", mode, [3, 5], CHARACTERS, of_interest(tokenizer)
    )


def test_there_is_no_structure_where_the_library_fails_at_a_missing_byte():
    tokenizer = byte_level(NEVER, unknown=True)
    state = json.loads(tokenizer._library.to_str())
    state["model"]["unk_token"] = "<none>"
    failing = HuggingFaceTokenizer(Tokenizer.from_str(json.dumps(state)))
    assert failing.structure() is None
    assert "its unk_token is no token" in failing.no_structure_reason


def test_a_normalizer_matters_only_where_a_text_can_lose_a_byte():
    assert check_library_walk(byte_level(NEVER, nfc=True), "é a", "prefix", [], CHARACTERS)
    assert why_not(byte_level(NEVER + b"\x04", nfc=True)).endswith("its normalizer may insert it")


def test_lists_of_broken_bytes_would_be_consistent_if_only_a_part_of_the_sign_for_them_is_missing():
    tokenizer = byte_level(NEVER + b"\xbd")
    broken = [tokenizer._library.token_to_id(LETTERS[byte]) for byte in (0xEF, 0xBF)]
    assert tokenizer.encode(tokenizer.decode(broken)) == broken
    assert why_not(tokenizer).startswith("no token spells the byte 0xBD, a part of U+FFFD")


def test_a_text_cannot_be_continued_by_bytes_that_are_missing():
    tokenizer = byte_level(NEVER + b"1")
    assert table_of(tokenizer, "open")
    assert why_not(tokenizer, "viable").startswith("no token spells the byte 0x31, with which")


def why_not(tokenizer: HuggingFaceTokenizer, mode: str = "prefix") -> str:
    with few_characters(CHARACTERS), pytest.raises(Unsupported) as refusal:
        build.table_engine(retokenizing.Oracle(tokenizer, mode))
    return str(refusal.value)


def test_a_token_that_holds_a_missing_byte_is_never_given_but_as_a_whole_part():
    for whole in (False, True):
        tokenizer = byte_level(NEVER + "本".encode()[1:2], whole=whole)
        (token,) = (
            i for i in range(tokenizer.vocab_size) if tokenizer.token_bytes(i) == "日本".encode()
        )
        with few_characters(CHARACTERS):
            engine, _ = table_of(tokenizer, "prefix")
        assert engine.mask(engine.start())[token] == whole
        assert (tokenizer.encode("日本") == [token]) == whole
