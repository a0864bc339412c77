"""What the modes differ in."""

import numpy as np
import pytest

from tests.support.random_bpe import Bpe, engine_of
from tests.support.sample_texts import PASSAGES
from tests.support.tokenizers import REAL, TRAINED
from ticore.consistency._modes import CONTINUATIONS, beginnings


def test_beginnings_are_all_prefixes_of_the_continuations():
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
def test_modes_differ_in_what_they_reject_of_true_texts(text, mode, bytes_rejected):
    tokenizer = Bpe(pattern="gpt2", rules=((b"\n", b"\n"),)).open()
    engine, _ = engine_of(tokenizer, mode)
    assert rejected(engine, tokenizer, text) == bytes_rejected


def all_rejected(name, mode):
    """The same for texts of several kinds."""
    tokenizer = (TRAINED | REAL)[name]()
    engine, oracle = engine_of(tokenizer, mode)
    texts = [PASSAGES[name] for name in ("english", "japanese", "spaces", "runs")]
    assert all(oracle.is_consistent(tokenizer.encode(text)) for text in texts)
    return [rejected(engine, tokenizer, text) for text in texts]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hf-cl100k-nfc", "hf-o200k", "gpt2", "qwen2.5"])
def test_open_rejects_white_space_alone(name):
    """Where it is split only once something follows."""
    found = {spelled for text in all_rejected(name, "open") for spelled in text.values()}
    assert found
    assert all(spelled.decode().isspace() for spelled in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sp-bpe", "hf-llama", "llama-2", "swallow"])
def test_open_rejects_the_dummy_prefix_alone(name):
    """Where no token holds it and what follows."""
    assert {*map(str, all_rejected(name, "open"))} == {"{}", "{0: b' '}"}


def test_open_rejects_nothing_without_splits_and_dummy_prefix():
    assert not any(all_rejected("sp-bpe-no-prefix", "open"))
