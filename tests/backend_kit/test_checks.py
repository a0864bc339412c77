"""Checks that only backends need."""

import pytest

from ticore.backend_kit import require_dense, require_float64, tokenizer_failure
from ticore.errors import ModelFilesError, SettingsError


def test_require_float64_refuses_other_formats():
    require_float64("float64")
    with pytest.raises(SettingsError, match="found bfloat16; load it with dtype='float64'"):
        require_float64("bfloat16")


@pytest.mark.parametrize("tokens", [0, 1, 256, 100_000])
def test_require_dense_refuses_an_id_far_above_the_number_of_tokens(tokens):
    most = 4 * tokens + 100_000
    require_dense(most, tokens)
    with pytest.raises(ModelFilesError, match=f"found the id {most + 1:,}"):
        require_dense(most + 1, tokens)


class Panic(BaseException):
    """Libraries in Rust raise one: a BaseException that is not an Exception."""


@pytest.mark.parametrize("error", [Panic("index out of bounds"), RuntimeError("no"), ValueError()])
def test_tokenizer_failure_makes_a_library_error_one_of_ticore(error):
    found = tokenizer_failure(error, "a text of 3 characters")
    assert isinstance(found, ModelFilesError)
    assert "fails at a text of 3 characters" in str(found)
    assert str(error) in str(found)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), MemoryError()])
def test_tokenizer_failure_gives_back_interrupts_and_full_memory(error):
    assert tokenizer_failure(error, "a text") is error
