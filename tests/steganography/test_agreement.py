"""An agreement refuses what is out of range, and its digest sees every field."""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ticore.errors import AgreementError, SettingsError
from ticore.steganography._agreement import Agreement

AGREEMENT = Agreement(
    model="ab" * 32,
    tokenizer="cd" * 32,
    prompt="Once upon a time, é",
    view="whole",
    mode="prefix",
    temperature=0.8,
    top_k=64,
    top_p=1.0,
    weight_bits=24,
    grid_bits=10,
    codec="arithmetic",
    disambiguation="stepwise",
)
LATER = {"numerics", "prompt_ids", "channel", "security", "openers", "window", "edits"}
GOLDEN_DIGEST = "1130b8316ec59772bebd7a7d451c1327cc79a47ee0968e51280611b8a1e42da9"

# For each field another valid value, and values that are invalid.
OTHER: dict[str, Any] = {
    "model": "ef" * 32,
    "tokenizer": "ef" * 32,
    "prompt": "",
    "view": "continuation",
    "mode": "viable",
    "temperature": math.nextafter(0.8, 1),
    "top_k": None,
    "top_p": 0.95,
    "weight_bits": 32,
    "grid_bits": 0,
    "codec": "huffman",
    "disambiguation": "mwis",
    "numerics": "portable",
    "prompt_ids": (),
    "channel": "chat",
    "security": "compact",
    "openers": "en-1",
    "window": 4,
    "edits": 0.1,
}
INVALID: dict[str, list[Any]] = {
    "model": ["", None, b"ab"],
    "tokenizer": ["", None, 7],
    "prompt": [None, b"text", 7],
    "view": ["", "half", None, []],
    "mode": ["", None],
    "temperature": [0, 1e-7, -1.0, math.nan, math.inf, True, "1", None, 10**400],
    "top_k": [0, -1, True, 64.0, "64"],
    "top_p": [0, -0.5, 1.0000001, 2, math.nan, True, None],
    "weight_bits": [7, 33, 24.0, True, None],
    "grid_bits": [-1, 13, 10.0, False, None],
    "codec": ["", None],
    "disambiguation": ["", None],
    "numerics": ["", "exact", None, []],
    "prompt_ids": ["ab", [-1], [1.0], [True], 7, {}],
    "channel": ["", None, 7],
    "security": ["", "high", None, []],
    "openers": ["", 7, []],
    "window": [0, -1, True, 4.0, "4", 10**400],
    "edits": [-0.1, 0.51, True, "0.1", None, math.nan],
}

values = st.fixed_dictionaries(
    {
        **dict.fromkeys(("model", "tokenizer", "mode"), st.text(min_size=1)),
        **dict.fromkeys(("codec", "disambiguation"), st.text(min_size=1)),
        # Lone surrogates too: a prompt may come from undecodable bytes of a command line.
        "prompt": st.text(st.characters()),
        "view": st.sampled_from(["whole", "continuation"]),
        "temperature": st.floats(1e-6, allow_infinity=False) | st.integers(1, 9),
        "top_k": st.none() | st.integers(1),
        "top_p": st.floats(0, 1, exclude_min=True),
        "weight_bits": st.integers(8, 32),
        "grid_bits": st.integers(0, 10),
        "numerics": st.sampled_from(["same-stack", "portable"]),
        "channel": st.sampled_from(["identity", "chat"]),
        "security": st.sampled_from(["standard", "compact"]),
    }
)


@given(values)
def test_agreement_comes_back_from_its_dict(values: dict[str, Any]) -> None:
    agreement = Agreement(**values)
    read = Agreement.from_dict(json.loads(json.dumps(agreement.to_dict())))
    assert read == agreement
    assert read.digest() == agreement.digest()


@given(values, values)
def test_digest_is_equal_exactly_when_agreements_are(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    a, b = Agreement(**one), Agreement(**other)
    assert (a.digest() == b.digest()) == (a == b)


def test_digest_is_that_of_former_versions() -> None:
    """Fails if the canonical form changes, which would lock out all earlier messages."""
    assert AGREEMENT.digest().hex() == GOLDEN_DIGEST


def test_digest_sees_every_field() -> None:
    assert (
        OTHER.keys()
        == INVALID.keys()
        == {field.name for field in fields(Agreement)} - {"key", "model_place", "model_options"}
    )
    unsent = replace(AGREEMENT, prompt="", view="continuation")  # as prompt_ids need it
    windowed = replace(AGREEMENT, window=2)  # as edits need it
    needed = {"prompt_ids": unsent, "edits": windowed}
    variants = [
        replace(needed.get(name, AGREEMENT), **{name: value}) for name, value in OTHER.items()
    ]
    digests = {agreement.digest() for agreement in [AGREEMENT, unsent, windowed, *variants]}
    assert len(digests) == 3 + len(OTHER)


def test_digest_is_the_same_for_whole_and_decimal_numbers() -> None:
    assert (
        replace(AGREEMENT, temperature=1).digest() == replace(AGREEMENT, temperature=1.0).digest()
    )


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, bad in INVALID.items() for value in bad]
)
def test_agreement_names_the_field_when_a_value_is_invalid(name: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=f"^{name}: expected .*, found "):
        replace(AGREEMENT, **{name: value})
    with pytest.raises(AgreementError, match=f"^a file: {name}: expected .*, found "):
        Agreement.from_dict(AGREEMENT.to_dict() | {name: value}, "a file")


def test_agreement_refuses_a_fine_grid_when_portable() -> None:
    assert replace(AGREEMENT, grid_bits=12).numerics == "same-stack"
    with pytest.raises(SettingsError, match="grid_bits: expected at most 10 where numerics is por"):
        replace(AGREEMENT, grid_bits=11, numerics="portable")


def test_agreement_checks_the_type_of_a_grid_before_its_size() -> None:
    with pytest.raises(AgreementError, match="grid_bits: expected an integer"):
        Agreement.from_dict(AGREEMENT.to_dict() | {"grid_bits": "10", "numerics": "portable"}, "a")


@pytest.mark.parametrize("options", [{"dtype": 64}, {1: "a"}, None, "dtype"])
def test_agreement_refuses_options_that_are_no_texts(options: Any) -> None:
    with pytest.raises(SettingsError, match="model_options: expected options that are texts"):
        replace(AGREEMENT, model_options=options)


def test_to_dict_leaves_out_later_fields_when_they_have_their_default() -> None:
    assert AGREEMENT.to_dict().keys().isdisjoint(LATER - {"prompt_ids"})
    assert replace(AGREEMENT, numerics="portable").to_dict()["numerics"] == "portable"


def test_edits_need_a_window_that_leaves_tokens_to_read() -> None:
    windowed = replace(AGREEMENT, window=4)
    assert replace(windowed, edits=0.1).edits == 0.1
    with pytest.raises(
        SettingsError, match="window: expected one beside edits, such as 4, found N"
    ):
        replace(AGREEMENT, edits=0.1)
    with pytest.raises(
        SettingsError, match=r"edits: expected at most 0\.32 with a window of 4, found"
    ):
        replace(windowed, edits=0.4)
    with pytest.raises(
        SettingsError, match="codec: expected arithmetic beside edits, found 'discop'"
    ):
        replace(windowed, edits=0.1, codec="discop")


def test_openers_are_sent() -> None:
    with pytest.raises(SettingsError, match="view: expected whole beside openers"):
        replace(AGREEMENT, openers="en-1", view="continuation")


@pytest.mark.parametrize("name", sorted(OTHER.keys() - LATER))
def test_from_dict_names_missing_fields(name: str) -> None:
    values = AGREEMENT.to_dict()
    del values[name]
    with pytest.raises(AgreementError, match=rf"missing {name}\b"):
        Agreement.from_dict(values)


def test_from_dict_names_unknown_fields() -> None:
    with pytest.raises(AgreementError, match="unknown seed, zeal"):
        Agreement.from_dict(AGREEMENT.to_dict() | {"zeal": 1, "seed": 2})


@pytest.mark.parametrize("values", [None, [], "text", 3])
def test_from_dict_refuses_what_is_not_a_mapping(values: object) -> None:
    with pytest.raises(AgreementError, match="expected named fields"):
        Agreement.from_dict(values)
