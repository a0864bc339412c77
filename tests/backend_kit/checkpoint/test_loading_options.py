"""What a caller may choose about a model."""

from __future__ import annotations

import pytest

from ticore.backend_kit.checkpoint import dtype_and_tokenizer
from ticore.errors import SettingsError

DTYPES = ("float64", "float32")


def test_what_is_not_given_is_float32_and_the_models_own_tokenizer() -> None:
    assert dtype_and_tokenizer({}, DTYPES, "a model") == ("float32", None)
    given = {"dtype": "float64", "tokenizer": ""}
    assert dtype_and_tokenizer(given, DTYPES, "a model") == ("float64", "")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            {"device": "cpu"},
            "unknown option 'device' for a model: the options are dtype, tok",
        ),
        ({"dtype": "bfloat16"}, "dtype: expected one of float64, float32, found 'bfloat16'"),
        ({"dtype": None}, "found None"),
        ({"tokenizer": 7}, "tokenizer: expected a text or None, found 7"),
    ],
)
def test_other_options_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        dtype_and_tokenizer(options, DTYPES, "a model")
