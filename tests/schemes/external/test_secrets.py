"""Errors do not show a key, and are short when a wrong value is long."""

from __future__ import annotations

from typing import Any

import pytest

from ticore.errors import SettingsError
from ticore.schemes._registry import external_scheme

# A key in a form that is a usual slip, and its digits.
SECRET, DIGITS = 37359285590000000000000, "3735928559"
FORMS: tuple[Any, ...] = (
    SECRET,
    -SECRET,
    str(SECRET),
    f"key {DIGITS}",
    f"0x{DIGITS}zz",
    float(DIGITS) + 0.5,
    [SECRET],
    [DIGITS],
    [int(DIGITS), DIGITS],
    {"key": DIGITS},
)
KEYS = [
    ("vllm", {}, "key"),
    ("sglang", {}, "key"),
    ("sglang", {"key": "1"}, "key_b"),
    ("synthid", {"ngram_len": 5}, "keys"),
    ("synthid", {"ngram_len": 5, "keys": [1, 2]}, "sampling_table_seed"),
    ("textseal", {}, "secret_key"),
    ("textseal", {"secret_key": 1}, "secret_key_b"),
    ("transformers", {}, "hashing_key"),
]


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize(("engine", "config", "name"), KEYS)
def test_errors_do_not_show_a_key(
    engine: str, config: dict[str, Any], name: str, form: object
) -> None:
    with pytest.raises(SettingsError, match=f"{name}: expected") as caught:
        external_scheme(engine, config | {name: form}, 1000)
    assert DIGITS not in str(caught.value)


@pytest.mark.parametrize(
    ("engine", "config"),
    [
        ("vllm", {"key": 1, "algorithm": "a" * 10**6}),
        ("vllm", {"key": 1, "context_width": "a" * 10**6}),
        ("vllm", {"key": 1, "a" * 10**6: 1}),
        ("sglang", {"key": "1", "mixing_probability": [1] * 10**5}),
        ("synthid", {"keys": [1], "ngram_len": {"a": ["b" * 10**6]}}),
        ("transformers", {"seeding_scheme": "a" * 10**6}),
        ("transformers", {"bias": "a" * 10**6}),
    ],
)
def test_errors_are_short_when_a_value_is_long(engine: str, config: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as caught:
        external_scheme(engine, config, 1000)
    assert len(str(caught.value)) < 800
