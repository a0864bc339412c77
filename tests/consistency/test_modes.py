"""What is unfinished, what finishes it, and what the modes differ in."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.consistency.random_bpe import Bpe, engine_of
from tests.histories import PASSAGES
from tests.tokenizers import REAL, TRAINED
from ticore.consistency.characters import is_assigned
from ticore.consistency.modes import CONTINUATIONS, beginnings, completions, pending

# What longer characters begin with: the last byte does not matter.
UNFINISHED = {
    chr(code).encode()[:n]
    for code in range(0x80, 0x110000, 0x40)
    if not 0xD800 <= code < 0xE000
    for n in range(1, len(chr(code).encode()))
}


@given(data=st.binary(max_size=6) | st.text(max_size=3).map(lambda text: text.encode()[:-1]))
@example(data="né".encode()[:-1])
@example(data="n😀".encode()[:-1])
@example(data="n😀".encode())
@example(data=b"\xc1")
@example(data=b"\xe0\x9f")
@example(data=b"\xed\xa0")
@example(data=b"\xf0\x8f")
@example(data=b"\xf4\x90")
@example(data=b"\xf5")
@example(data=b"\x80\x80")
def test_pending_is_an_end_that_some_character_begins_with(data):
    ends = [data[-n:] for n in range(1, 4) if n <= len(data)]
    assert pending(data) == next((end for end in ends if end in UNFINISHED), b"")


def test_completions_are_all_assigned_characters_that_begin_so():
    """Also private ones, but no surrogates, in the order of their code points."""
    assigned = list(filter(is_assigned, map(chr, range(0x80, 0x110000))))
    leads = (bytes([lead]) for lead in range(0xC2, 0xF5))
    assert [character for lead in leads for character in completions(lead)] == assigned


@pytest.mark.parametrize(
    "unfinished", [b"\xc3", b"\xe3\x81", b"\xe0\xa4", b"\xf0\x9f\x98", b"\xf4"]
)
def test_completions_begin_with_what_is_there(unfinished):
    found = list(completions(unfinished))
    assert len(found) > 60
    assert all(character.encode().startswith(unfinished) for character in found)


def test_beginnings():
    assert beginnings() == {*CONTINUATIONS, " "}


def rejected(engine, tokenizer, text):
    """The bytes of the true next tokens of a text that are not admitted, and their places."""
    state, found = engine.start(), {}
    for at, token in enumerate(tokenizer.encode(text)):
        if not engine.admits(state, np.array([token]))[0]:
            found[at] = tokenizer.token_bytes(token)
        state = engine.step(state, token)
    return found


@pytest.mark.parametrize(
    ("text", "mode", "bytes_rejected"),
    [
        ("aあ", "prefix", {1: b"\xe3", 2: b"\x81"}),
        ("aあ", "open", {}),
        ("a\n\nb", "prefix", {2: b"\n"}),
        ("a\n\nb", "open", {2: b"\n"}),
        ("a\n\nb", "viable", {}),
    ],
)
def test_what_the_modes_differ_in(text, mode, bytes_rejected):
    tokenizer = Bpe(pattern="gpt2", rules=((b"\n", b"\n"),)).open()
    engine, _ = engine_of(tokenizer, mode)
    assert rejected(engine, tokenizer, text) == bytes_rejected


def all_rejected(name, mode):
    """The same for texts of several kinds."""
    tokenizer = (TRAINED | REAL)[name]()
    engine, judge = engine_of(tokenizer, mode)
    texts = [PASSAGES[name] for name in ("english", "japanese", "spaces", "runs")]
    assert all(judge.finished_ok(tokenizer.encode(text)) for text in texts)
    return [rejected(engine, tokenizer, text) for text in texts]


@pytest.mark.parametrize("name", ["hf-cl100k-nfc", "hf-o200k", "gpt2", "qwen2.5"])
def test_open_rejects_white_space_alone(name):
    """Where it is split only once something follows."""
    found = {spelled for text in all_rejected(name, "open") for spelled in text.values()}
    assert found
    assert all(spelled.decode().isspace() for spelled in found)


@pytest.mark.parametrize("name", ["sp-bpe", "hf-llama", "llama-2", "swallow"])
def test_open_rejects_the_dummy_prefix_alone(name):
    """Where no token holds it and what follows."""
    assert {*map(str, all_rejected(name, "open"))} == {"{}", "{0: b' '}"}


def test_without_splits_and_without_a_prefix_open_rejects_nothing():
    assert not any(all_rejected("sp-bpe-no-prefix", "open"))
