"""A key is taken as bytes or as hex digits; what would silently be another key is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ticore
from ticore.errors import FileError, KeyFormatError, SettingsError, TicoreError, WrongTypeError
from ticore.keys import RawKey, key_bytes

from .models import ToyModel, ToyTokenizer

KEY = bytes(range(100, 132))
TOY = ToyTokenizer(["a", "b", "c", "d", " "])
MODEL = ToyModel(TOY, sharpness=1.0)
BLANKS = st.text(" \t\r\n", max_size=3)


@given(st.binary(min_size=1, max_size=80), BLANKS, BLANKS)
def test_hex_digits_are_read_as_the_bytes_they_spell(key: bytes, before: str, after: str) -> None:
    assert key_bytes(before + key.hex() + after) == key
    assert key_bytes(before + key.hex().upper() + after) == key


@given(st.binary(max_size=80).filter(lambda key: not re.fullmatch(rb"\s*[0-9a-fA-F]+\s*", key)))
def test_other_bytes_are_taken_as_they_stand(key: bytes) -> None:
    assert key_bytes(key) == key_bytes(bytearray(key)) == key_bytes(memoryview(key)) == key
    assert key_bytes(key_bytes(key)) == key


@given(st.binary(min_size=32, max_size=32), BLANKS)
def test_the_text_of_a_key_as_bytes_is_refused(key: bytes, after: str) -> None:
    text = (key.hex() + after).encode()
    with pytest.raises(KeyFormatError, match="give them as a str") as caught:
        key_bytes(text)
    assert key.hex() not in str(caught.value)
    assert key_bytes(RawKey(text)) == text


@pytest.mark.parametrize("key", ["", "x" * 32, "abc", "ab cd", "٣٣", 7, None, [1, 2], 0.5])
def test_what_is_no_key(key: object) -> None:
    with pytest.raises(KeyFormatError, match="expected a key as bytes, or as a str of hex digits"):
        key_bytes(key)


def test_a_key_file_serves_wherever_a_key_is_taken(tmp_path) -> None:
    """What `ticore keygen` writes is one key, however it is brought to Python."""
    text = ticore.steganography.format_key(KEY)
    (tmp_path / "K").write_text(text)
    assert ticore.load_key(tmp_path / "K") == ticore.parse_key(text) == KEY
    assert ticore.parse_key(text.encode()) == KEY

    settings = {"prompt": "a b", "finish": "none"}
    sent = ticore.Steganographer(MODEL, key=KEY, **settings).embed(b"x")
    assert ticore.Steganographer(MODEL, key=text, **settings).extract(sent) == b"x"
    assert ticore.Pact("tiny-en", text, _agreement()) == ticore.Pact("tiny-en", KEY, _agreement())
    for scheme in ("gumbel", "left_hash"):
        one = ticore.Watermarker(MODEL, scheme, key=text, seed=1).generate("a", 30)
        assert one.ids == ticore.Watermarker(MODEL, scheme, key=KEY, seed=1).generate("a", 30).ids
        by_text = ticore.WatermarkDetector(TOY, scheme, key=text).detect_ids(one.ids)
        by_key = ticore.WatermarkDetector(TOY, scheme, key=KEY).detect_ids(one.ids)
        assert by_text.p_value == by_key.p_value


def _agreement() -> ticore.Agreement:
    return ticore.Steganographer(MODEL, key=KEY).agreement


def test_what_was_written_with_the_digits_as_bytes_is_still_read() -> None:
    digits = KEY.hex().encode()
    with pytest.raises(KeyFormatError, match="RawKey"):
        ticore.WatermarkDetector(TOY, "gumbel", key=digits)
    raw = ticore.Watermarker(MODEL, "gumbel", key=RawKey(digits)).generate("a", 60)
    assert ticore.WatermarkDetector(TOY, "gumbel", key=RawKey(digits)).detect_ids(
        raw.ids
    ).p_value < (ticore.WatermarkDetector(TOY, "gumbel", key=KEY).detect_ids(raw.ids).p_value)


@pytest.mark.parametrize("scheme", ["gumbel", "left_hash"])
def test_the_key_is_not_blamed_on_the_settings(scheme: str) -> None:
    for key in ("x" * 32, 7, b"short"):
        with pytest.raises(KeyFormatError, match="expected a key"):
            ticore.WatermarkDetector(TOY, scheme, key=key)
    with pytest.raises(SettingsError, match=f"settings that {scheme} has, found gama;"):
        ticore.WatermarkDetector(TOY, scheme, key=KEY, gama=0.5)


def test_a_fault_of_a_scheme_is_not_taken_for_a_wrong_setting(monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise TypeError("a fault inside")

    monkeypatch.setattr("ticore.schemes.wide.WideKey.derive", fail)
    with pytest.raises(TypeError, match="a fault inside"):
        ticore.WatermarkDetector(TOY, "gumbel", key=KEY)


def test_files_that_hold_no_key(tmp_path) -> None:
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
        (lambda: MARK.generate(b"ab", 3), "expected token ids, or a text"),
        (lambda: MARK.generate_batch("ab", 3), "expected a list of prompts, found one str"),
        (
            lambda: ticore.load_model(Path("m")),
            r"expected a place as a str, .* found \w*Path; for a",
        ),
        (lambda: ticore.load_tokenizer(None), "expected a place as a str, .* found NoneType"),
        (lambda: DETECTOR.detect_batch("ab"), "expected a list of texts, found one str"),
    ],
)
def test_arguments_of_another_type(call, part: str) -> None:
    with pytest.raises(WrongTypeError, match=part) as caught:
        call()
    assert isinstance(caught.value, TicoreError)
    assert isinstance(caught.value, TypeError)
