"""What models refuse to read, at the very edge."""

import numpy as np
import pytest

from ticore import limits
from ticore.errors import CapacityError, ModelFilesError, PromptError, SettingsError


def test_ids_are_plain_integers_below_the_width():
    checked = limits.checked_ids(np.array([0, 4]), 5)
    assert checked == [0, 4]
    assert all(type(token) is int for token in checked)
    for wrong in (-1, 5):
        with pytest.raises(SettingsError, match=f"from 0 to 4, found {wrong}; use the ids"):
            limits.checked_ids([0, wrong], 5)


@pytest.mark.parametrize(
    ("require", "most", "error", "message"),
    [
        (limits.require_prompt_fits, 7, PromptError, "at most 7 tokens, found 8"),
        (limits.require_scorable, 8, CapacityError, "at most 8 tokens to score, found 9"),
        (limits.require_room, 6, CapacityError, "context full with 7"),
        (limits.require_pushed, 7, SettingsError, "the 7 pushed tokens, found 8"),
    ],
)
def test_the_most_is_allowed_and_one_more_is_not(require, most, error, message):
    require(most, 7)
    with pytest.raises(error, match=message):
        require(most + 1, 7)


def test_a_negative_number_is_not_rewound():
    with pytest.raises(SettingsError, match="found -1"):
        limits.require_pushed(-1, 7)


def test_only_float64_is_wide_enough():
    limits.require_float64("float64")
    with pytest.raises(SettingsError, match="found bfloat16; load it with dtype='float64'"):
        limits.require_float64("bfloat16")


@pytest.mark.parametrize("tokens", [0, 1, 256, 100_000])
def test_ids_are_about_as_many_as_tokens(tokens):
    most = 4 * tokens + 100_000
    limits.require_dense(most, tokens)
    with pytest.raises(ModelFilesError, match=f"found the id {most + 1:,}"):
        limits.require_dense(most + 1, tokens)


class Panic(BaseException):
    """As libraries in Rust raise it: no Exception."""


@pytest.mark.parametrize("error", [Panic("index out of bounds"), RuntimeError("no"), ValueError()])
def test_what_a_library_fails_with_is_an_error_of_ours(error):
    found = limits.tokenizer_failure(error, "a text of 3 characters")
    assert isinstance(found, ModelFilesError)
    assert "fails at a text of 3 characters" in str(found)
    assert str(error) in str(found)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), MemoryError()])
def test_what_is_no_failure_of_a_library_stays_what_it_is(error):
    assert limits.tokenizer_failure(error, "a text") is error
