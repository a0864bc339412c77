"""What our tokenizer adapters keep besides the contract of `ticore.testing`."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import pytest

from ticore.errors import ModelFilesError, SettingsError, WrongTypeError
from ticore.interfaces import TokenizerStructure
from ticore.testing._tokenizers import any_ids, joined_bytes, numbers, texts

__all__ = [
    "Failing",
    "Panic",
    "any_ids",
    "check_failures",
    "check_refusals",
    "joined_bytes",
    "numbers",
    "texts",
    "traits",
]


def traits(structure: TokenizerStructure | None) -> dict[str, object]:
    """The fields of a structure that are neither arrays nor functions nor defaults."""
    assert structure is not None
    tables = ("pieces", "merges", "ranks", "scores", "byte_ids", "normalize")
    said = {f.name: (getattr(structure, f.name), f) for f in fields(structure)}
    return {
        name: value
        for name, (value, f) in said.items()
        if name not in tables and (f.default is MISSING or value != f.default) and value != {}
    }


class Failing:
    """Takes the place of a library, and fails at every call."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def encode(self, *_: object, **__: object) -> Any:
        raise self._error

    encode_batch_fast = encode_ordinary = encode_ordinary_batch = encode


class Panic(BaseException):
    """Libraries in Rust raise one: a BaseException that is not an Exception."""


def check_failures(tokenizer: Any) -> None:
    """A failure of the library becomes an error of ticore, and an interrupt passes.

    Args:
        tokenizer: unusable afterwards.
    """
    long = ["some text"] * 10_000  # long enough for threads
    for error, expected in (
        (Panic("index out of bounds"), ModelFilesError),
        (RuntimeError("Missing [UNK]"), ModelFilesError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (MemoryError(), MemoryError),
    ):
        tokenizer._library = Failing(error)
        for call, text in ((tokenizer.encode, "some text"), (tokenizer.encode_batch, long)):
            with pytest.raises(expected) as caught:
                call(text)
            assert str(error) in str(caught.value)


def check_refusals(tokenizer: Any) -> None:
    """Other ids and other values than texts are refused, and not taken for the last token."""
    for token in (-1, tokenizer.vocab_size):
        for call, given in ((tokenizer.decode, [token]), (tokenizer.token_bytes, token)):
            with pytest.raises(SettingsError, match=f"token ids from 0 to .*, found {token}"):
                call(given)
    for call, given in ((tokenizer.decode, "12"), (tokenizer.decode, [1.5])):
        with pytest.raises(WrongTypeError, match="expected token ids"):
            call(given)
    for wrong in ("ab", [None], None):
        with pytest.raises(WrongTypeError):
            tokenizer.encode_batch(wrong)
    assert tokenizer.encode_batch(iter(["ab"])) == [tokenizer.encode("ab")]
