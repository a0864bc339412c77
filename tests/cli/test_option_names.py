"""What errors call things, in the words of the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import ticore
from ticore._cli.option_names import OPTION_NAMES, with_option_names


@pytest.fixture(scope="module")
def library() -> str:
    """The source of all that is no command, with the texts of errors on one line."""
    folder = Path(ticore.__file__).parent
    files = [file for file in folder.rglob("*.py") if "_cli" not in file.parts]
    found = " ".join(file.read_text(encoding="utf-8") for file in files)
    return re.sub(r'"\s+f?"', "", found)


@pytest.mark.parametrize("name", OPTION_NAMES)
def test_some_error_has_the_name(name: str, library: str) -> None:
    assert name in library


def test_each_name_is_replaced() -> None:
    said = "; ".join(OPTION_NAMES)
    assert with_option_names(said) == "; ".join(OPTION_NAMES.values())
    assert with_option_names("expected another text") == "expected another text"
