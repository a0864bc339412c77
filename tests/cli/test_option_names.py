"""What errors call things, in the words of the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ticore as package
from ticore._cli.option_names import OPTION_NAMES, with_option_names

from .conftest import Ticore


@pytest.fixture(scope="module")
def library() -> str:
    """The source of all that is no command, with the texts of errors on one line."""
    folder = Path(package.__file__).parent
    files = [file for file in folder.rglob("*.py") if "_cli" not in file.parts]
    found = " ".join(file.read_text(encoding="utf-8") for file in files)
    return re.sub(r'"\s+f?"', "", found)


@pytest.mark.parametrize("name", OPTION_NAMES)
def test_some_error_has_the_name(name: str, library: str) -> None:
    assert name in library


@pytest.mark.parametrize(
    ("option", "said"), [("--fpr", "expected a number"), ("--context", "expected a whole number")]
)
def test_what_is_no_number_is_refused_in_the_same_words(
    ticore: Ticore, option: str, said: str
) -> None:
    found = ticore("detect", "--scheme", "gumbel", option, "5%", "text")
    assert said in found.err or "is not a valid" in found.err  # of an older parser
    assert found.status == 2


def test_each_name_is_replaced() -> None:
    said = "; ".join(OPTION_NAMES)
    assert with_option_names(said) == "; ".join(OPTION_NAMES.values())
    assert with_option_names("expected another text") == "expected another text"
