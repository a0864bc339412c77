"""A key is taken as bytes or as hex digits; what would silently be another key is refused."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from ticore.errors import CredentialError, FileError, SettingsError, TicoreError, WrongTypeError
from ticore.keys import Key, format_key, key_bytes, parse_key

from ..support.toy_models import ToyModel, ToyTokenizer

KEY = bytes(range(100, 132))
TOY = ToyTokenizer(["a", "b", "c", "d", " "])
MODEL = ToyModel(TOY, sharpness=1.0)
BLANKS = st.text(" \t\r\n", max_size=3)


@given(st.binary(min_size=1, max_size=80), BLANKS, BLANKS)
def test_key_bytes_reads_hex_digits_as_the_bytes_they_spell(
    key: bytes, before: str, after: str
) -> None:
    assert key_bytes(before + key.hex() + after) == key
    assert key_bytes(before + key.hex().upper() + after) == key


@given(st.binary(max_size=80).filter(lambda key: not re.fullmatch(rb"\s*[0-9a-fA-F]+\s*", key)))
def test_key_bytes_takes_other_bytes_as_they_stand(key: bytes) -> None:
    assert key_bytes(key) == key_bytes(bytearray(key)) == key_bytes(memoryview(key)) == key
    assert key_bytes(key_bytes(key)) == key


@given(st.binary(min_size=32, max_size=32), BLANKS)
def test_key_bytes_refuses_the_hex_digits_of_a_key_as_bytes(key: bytes, after: str) -> None:
    text = (key.hex() + after).encode()
    with pytest.raises(CredentialError, match="give them as a str") as caught:
        key_bytes(text)
    assert key.hex() not in str(caught.value)
    assert key_bytes(Key(text)) == text


@pytest.mark.parametrize("key", ["", "x" * 32, "abc", "ab cd", "٣٣", 7, None, [1, 2], 0.5])
def test_key_bytes_refuses_what_is_not_a_key(key: object) -> None:
    with pytest.raises(CredentialError, match="expected a key as bytes, or as a str of hex digits"):
        key_bytes(key)


def test_a_key_file_may_begin_with_a_byte_order_mark() -> None:
    """As some editors write it."""
    assert parse_key(b"\xef\xbb\xbf" + b"ab" * 32 + b"\r\n") == bytes([0xAB]) * 32


def test_from_hex_refuses_bytes() -> None:
    with pytest.raises(CredentialError, match="expected a key as a str of hex digits, found bytes"):
        Key.from_hex(b"00" * 32)  # type: ignore[arg-type] # the error is what is tested


def test_key_file_is_accepted_wherever_a_key_is(tmp_path) -> None:
    """What `ticore keygen` writes is one key, however it is brought to Python."""
    text = ticore.keys.format_key(KEY)
    (tmp_path / "K").write_text(text)
    assert ticore.load_key(tmp_path / "K") == ticore.parse_key(text) == KEY
    assert ticore.parse_key(text.encode()) == KEY

    settings = {"prompt": "a b", "finish": "none"}
    sent = ticore.Steganographer(MODEL, key=KEY, **settings).embed(b"x")
    assert ticore.Steganographer(MODEL, key=text, **settings).extract(sent) == b"x"
    assert replace(_agreement(), key=text) == replace(_agreement(), key=KEY)
    for scheme in ("gumbel", "left_hash"):
        one = ticore.Watermarker(MODEL, scheme, key=text, seed=1).generate("a", max_new_tokens=30)
        assert (
            one.ids
            == ticore.Watermarker(MODEL, scheme, key=KEY, seed=1)
            .generate("a", max_new_tokens=30)
            .ids
        )
        by_text = ticore.WatermarkDetector(TOY, scheme, key=text).detect_ids(one.ids)
        by_key = ticore.WatermarkDetector(TOY, scheme, key=KEY).detect_ids(one.ids)
        assert by_text.p_value == by_key.p_value


def _agreement() -> ticore.Agreement:
    return ticore.Steganographer(MODEL, key=KEY).agreement


def test_key_of_digits_as_bytes_still_reads_former_texts() -> None:
    digits = KEY.hex().encode()
    with pytest.raises(CredentialError, match="Key"):
        ticore.WatermarkDetector(TOY, "gumbel", key=digits)
    raw = ticore.Watermarker(MODEL, "gumbel", key=Key(digits)).generate("a", max_new_tokens=60)
    assert ticore.WatermarkDetector(TOY, "gumbel", key=Key(digits)).detect_ids(raw.ids).p_value < (
        ticore.WatermarkDetector(TOY, "gumbel", key=KEY).detect_ids(raw.ids).p_value
    )


@pytest.mark.parametrize("scheme", ["gumbel", "left_hash"])
def test_watermarker_names_the_key_when_the_key_is_wrong(scheme: str) -> None:
    for key in ("x" * 32, 7, b"short"):
        with pytest.raises(CredentialError, match="expected a key"):
            ticore.WatermarkDetector(TOY, scheme, key=key)
    with pytest.raises(SettingsError, match=f"settings that {scheme} has, found gama;"):
        ticore.WatermarkDetector(TOY, scheme, key=KEY, gama=0.5)


def test_error_of_a_scheme_is_not_taken_for_a_wrong_setting(monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise TypeError("a fault inside")

    monkeypatch.setattr("ticore.schemes._keyed_numbers_v2.KeyV2.derive", fail)
    with pytest.raises(TypeError, match="a fault inside"):
        ticore.WatermarkDetector(TOY, "gumbel", key=KEY)


def test_load_key_refuses_files_without_a_key(tmp_path) -> None:
    with pytest.raises(FileError, match="cannot read"):
        ticore.load_key(tmp_path / "none")
    with pytest.raises(FileError, match="cannot read"):
        ticore.load_key("a\0b")
    (tmp_path / "long").write_bytes(b"ab" * 10_000)
    with pytest.raises(FileError, match="expected at most 4,096 bytes"):
        ticore.load_key(tmp_path / "long")


STEGO = ticore.Steganographer(MODEL, key=KEY)
MARK = ticore.Watermarker(MODEL, "gumbel", key=KEY)
DETECTOR = ticore.WatermarkDetector(TOY, "gumbel", key=KEY)


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda: STEGO.embed("text"), "found str; encode it first"),
        (lambda: STEGO.embed(None), "expected a message of bytes, found NoneType"),
        (lambda: STEGO.extract(b"text"), "found bytes; decode it first"),
        (lambda: STEGO.extract(b""), "found bytes; decode it first"),
        (lambda: STEGO.extract(3), "expected a text .str., found int"),
        (lambda: STEGO.extract_bits(b"text", 3), "found bytes; decode it first"),
        (lambda: ticore.Steganographer(MODEL, password=b"x"), "expected a password as a str"),
        # These are sequences, of integers and of texts, and were taken for other input.
        (lambda: MARK.generate(b"ab", max_new_tokens=3), "expected token ids, or a text"),
        (
            lambda: MARK.generate_batch("ab", max_new_tokens=3),
            "expected a list of prompts, found one str",
        ),
        (
            lambda: ticore.load_model(Path("m")),
            r"expected a place as a str, .* found \w*Path; for a",
        ),
        (lambda: ticore.load_tokenizer(None), "expected a place as a str, .* found NoneType"),
        (lambda: DETECTOR.detect_batch("ab"), "expected a list of texts, found one str"),
    ],
)
def test_public_functions_refuse_arguments_of_another_type(call, part: str) -> None:
    with pytest.raises(WrongTypeError, match=part) as caught:
        call()
    assert isinstance(caught.value, TicoreError)
    assert isinstance(caught.value, TypeError)


def test_key_shows_no_secret_and_spells_itself_in_hex() -> None:
    key = Key.new()
    assert len(key) == 32
    assert key != Key.new()
    assert Key.from_hex(key.hex()) == key
    assert repr(key) == str(key) == f"{key}" == "Key(32 bytes)"
    back = pickle.loads(pickle.dumps(key))
    assert (type(back), back) == (Key, key)


def test_former_names_of_keys_work_with_a_warning() -> None:
    for place in (ticore, ticore.keys):
        with pytest.warns(DeprecationWarning, match="RawKey is deprecated; use"):
            assert place.RawKey is Key
    for name in ("format_key", "load_key", "new_key", "parse_key"):
        with pytest.warns(DeprecationWarning, match=f"use ticore.keys.{name}"):
            assert getattr(ticore.steganography, name) is getattr(ticore.keys, name)


def test_every_way_to_get_a_key_gives_a_key(tmp_path: Path) -> None:
    (tmp_path / "K").write_text(KEY.hex())
    found = (ticore.load_key(tmp_path / "K"), ticore.parse_key(KEY), ticore.new_key())
    assert {type(key) for key in found} == {Key}


@pytest.mark.parametrize(
    "data", [b"a" * 31 + b"\n", b"0" * 32, b"correct horse battery staple ab\n"]
)
def test_a_text_of_32_characters_is_no_raw_key(data: bytes) -> None:
    """Half of the digits of a key, or a password, which would be used without its slow hash."""
    with pytest.raises(CredentialError, match=f"found {len(data.strip())} characters"):
        parse_key(data)
    assert parse_key(bytes(32)) == bytes(32)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_key_file_may_be_any_kind_of_bytes(kind: type) -> None:
    for data in (KEY, format_key(KEY).encode()):
        assert parse_key(kind(data)) == KEY


@pytest.mark.parametrize("data", [32, "aa" * 32, None, [1, 2]])
def test_a_key_is_made_of_bytes(data: Any) -> None:
    with pytest.raises(CredentialError, match=r"expected the bytes of a key, found an? "):
        Key(data)
