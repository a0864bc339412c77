"""Old spellings work, and warn."""

import pytest

from ticore._support.deprecation import keywords_after, moved_names, renamed_arguments


@renamed_arguments(tokens="max_new_tokens")
@keywords_after(1)
def generate(prompt, *, max_new_tokens=5, seed=0):
    return prompt, max_new_tokens, seed


def test_renamed_arguments_accepts_the_new_name_without_a_warning():
    assert generate("a", max_new_tokens=2, seed=1) == ("a", 2, 1)


def test_renamed_arguments_warns_when_the_old_name_is_used():
    with pytest.warns(DeprecationWarning, match=r"generate\(tokens=...\).*use max_new_tokens="):
        assert generate("a", tokens=2) == ("a", 2, 0)


def test_renamed_arguments_refuses_both_names_at_once():
    with pytest.raises(TypeError, match="expected max_new_tokens= alone"):
        generate("a", tokens=2, max_new_tokens=3)


class Made:
    @renamed_arguments(old="new")
    def __init__(self, *, new):
        self.new = new


def test_renamed_arguments_names_the_class_of_a_constructor():
    with pytest.warns(DeprecationWarning, match=r"^Made\(old=\.\.\.\) is deprecated; use new="):
        assert Made(old=1).new == 1


def test_keywords_after_warns_when_settings_are_positional():
    with pytest.warns(DeprecationWarning, match=r"max_new_tokens=..., seed=\.\.\."):
        assert generate("a", 7, 8) == ("a", 7, 8)


@pytest.mark.parametrize("call", [lambda: generate("a", 7), lambda: generate("a", tokens=7)])
def test_warning_blames_the_line_that_calls(call):
    with pytest.warns(DeprecationWarning, match="generate") as caught:
        call()
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    "call", [lambda: generate("a", 1, 2, 3), lambda: generate("a", 1, max_new_tokens=2)]
)
def test_keywords_after_leaves_wrong_calls_to_python(call):
    with pytest.raises(TypeError):
        call()


def test_moved_names_warns_and_finds_the_new_home():
    find = moved_names("old.home", {"Digits": "decimal:Decimal"})
    with pytest.warns(
        DeprecationWarning, match="old.home.Digits is deprecated; use decimal.Decimal"
    ):
        assert find("Digits").__name__ == "Decimal"
    with pytest.raises(AttributeError, match=r"'old\.home' has no attribute 'other'"):
        find("other")
