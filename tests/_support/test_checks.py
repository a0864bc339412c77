"""Checks of arguments, at the edges of what they allow."""

import math
from fractions import Fraction

import numpy as np
import pytest

from ticore._support import checks
from ticore.errors import CapacityError, PromptError, SettingsError, WrongTypeError


def test_numbers_of_other_types_become_those_that_json_has():
    found = [
        checks.python_number(n) for n in (np.float32(0.5), np.int64(3), Fraction(1, 4), 7, "a")
    ]
    assert found == [0.5, 3, 0.25, 7, "a"]
    assert [type(n) for n in found] == [float, int, float, int, str]


def test_checked_ids_are_python_integers_below_the_width():
    checked = checks.checked_ids(np.array([0, 4]), 5)
    assert checked == [0, 4]
    assert all(type(token) is int for token in checked)
    for wrong in (-1, 5):
        with pytest.raises(SettingsError, match=f"from 0 to 4, found {wrong}; use the ids"):
            checks.checked_ids([0, wrong], 5)


@pytest.mark.parametrize(
    ("require", "most", "error", "message"),
    [
        (checks.require_prompt_fits, 7, PromptError, "at most 7 tokens, found 8"),
        (checks.require_scorable, 8, CapacityError, "at most 8 tokens to score, found 9"),
        (checks.require_room, 6, CapacityError, "context full with 7"),
        (checks.require_pushed, 7, SettingsError, "the 7 pushed tokens, found 8"),
    ],
)
def test_limits_allow_the_most_and_refuse_one_more(require, most, error, message):
    require(most, 7)
    with pytest.raises(error, match=message):
        require(most + 1, 7)


def test_require_pushed_refuses_a_negative_count():
    with pytest.raises(SettingsError, match="found -1"):
        checks.require_pushed(-1, 7)


@pytest.mark.parametrize("count", [np.uint8(2), np.uint64(2), np.int64(2), 2])
def test_require_pushed_gives_a_python_integer(count):
    """The negative of NumPy's unsigned 2 is 254."""
    checked = checks.require_pushed(count, 7)
    assert (checked, type(checked)) == (2, int)


@pytest.mark.parametrize("count", [1.0, "1", None])
def test_require_pushed_refuses_what_is_no_integer(count):
    with pytest.raises(WrongTypeError, match="rewind: expected an integer, found"):
        checks.require_pushed(count, 7)


@pytest.mark.parametrize("text", ["12", b"12", bytearray(b"12")])
def test_checked_ids_refuses_texts_and_bytes(text):
    with pytest.raises(WrongTypeError, match=f"expected token ids, .* found {type(text).__name__}"):
        checks.checked_ids(text, 100)


@pytest.mark.parametrize("wrong", [3.0, "3", None, [3]])
def test_checked_ids_refuses_what_is_not_an_integer(wrong):
    with pytest.raises(WrongTypeError, match="expected token ids that are integers"):
        checks.checked_ids([1, wrong], 100)


def test_require_repeats_a_long_value_in_short():
    checks.require(True, "prompt", "a text", None)
    with pytest.raises(SettingsError, match=r"^prompt: expected a text, found 'aaa.*aaa'$") as said:
        checks.require(False, "prompt", "a text", "a" * 10_000)
    assert len(str(said.value)) < 120


@pytest.mark.parametrize("found", ["c", None, ["a"], {}])
def test_require_one_of_lists_what_is_known_for_any_other_value(found):
    assert checks.require_one_of("mode", "b", ("a", "b")) == "b"
    with pytest.raises(SettingsError, match="mode: expected one of a, b, found "):
        checks.require_one_of("mode", found, ("a", "b"))


@pytest.mark.parametrize("found", [1, 3, np.int64(2), np.uint8(3)])
def test_require_integer_allows_its_limits(found):
    assert checks.require_integer("top_k", found, 1, 3) == found
    assert type(checks.require_integer("top_k", found, 1, 3)) is int
    assert checks.require_integer("top_k", found, 1) == found


@pytest.mark.parametrize(
    "found", [0, 4, 2.0, "2", True, np.True_, None, pytest.param(10**5000, id="long")]
)
def test_require_integer_refuses_what_is_no_integer_within_its_limits(found):
    with pytest.raises(SettingsError, match="top_k: expected an integer from 1 to 3, found"):
        checks.require_integer("top_k", found, 1, 3)


@pytest.mark.parametrize("found", [1e-9, 0.5, 1, 1.0, np.float32(0.5), np.int64(1)])
def test_require_number_gives_a_float_up_to_the_most(found):
    checked = checks.require_number("top_p", found, above=0, most=1)
    assert (checked, type(checked)) == (found, float)


@pytest.mark.parametrize("found", [0, 1.1, -1, True, "1", None, math.nan])
def test_require_number_refuses_what_is_no_number_within_its_limits(found):
    expected = "top_p: expected a number above 0 and at most 1, found"
    with pytest.raises(SettingsError, match=expected):
        checks.require_number("top_p", found, above=0, most=1)


@pytest.mark.parametrize("found", [math.inf, 10**400])
def test_require_number_refuses_what_is_not_finite(found):
    with pytest.raises(SettingsError, match="temperature: expected a finite number above 0, found"):
        checks.require_number("temperature", found, above=0)


@pytest.mark.parametrize("found", [1e-6, 1, np.float32(0.5), np.float64(2)])
def test_require_temperature_gives_a_float(found):
    """A float32 that is compared with the largest float is a warning, which is an error here."""
    checked = checks.require_temperature(found)
    assert (checked, type(checked)) == (found, float)


@pytest.mark.parametrize("found", [0, 1e-7, math.inf, math.nan, 10**400, np.float32("inf"), "1"])
def test_require_temperature_refuses_what_is_out_of_range(found):
    with pytest.raises(SettingsError, match="temperature: expected a finite number of at least"):
        checks.require_temperature(found)


@pytest.mark.parametrize(
    "ids", [[True], (1, False), np.zeros(3, bool), np.zeros((2, 1), int), np.int64(3)], ids=repr
)
def test_truth_values_and_rows_are_no_ids(ids):
    with pytest.raises(WrongTypeError, match="expected "):
        checks.checked_ids(ids, 10)


def test_masks_of_torch_are_no_ids():
    torch = pytest.importorskip("torch")
    assert checks.checked_ids(torch.tensor([1, 2]), 10) == [1, 2]
    for ids in (torch.zeros(3, dtype=torch.bool), torch.tensor([[5], [6]])):
        with pytest.raises(WrongTypeError, match="expected "):
            checks.checked_ids(ids, 10)
