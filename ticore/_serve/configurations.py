"""A list of configurations that a person opens in the page: the same JSON as `detect --config`.

The list has keys in it and names no files: the program would read them, and not the browser.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from .._support.input_files import parse_json
from ..errors import CredentialError
from ..interfaces import Tokenizer
from ..watermarking import AnyWatermarkDetector, Tokenizations, WatermarkDetector
from ..watermarking._configurations import count_configurations
from .fields import Fields
from .jobs import Watch, Work
from .models import Models
from .refusals import RefusedError

MOST_CONFIGURATIONS = 1_000
_FILES = ("key_file", "agreement")


def open_configurations(fields: Fields, models: Models) -> Work:
    """Work that returns how many a list has. Keys are checked when they are looked for."""
    entries = read_list(fields.text("configurations"))

    def work(watch: Watch) -> dict[str, Any]:
        return {"configurations": count_configurations(entries)}

    return work


def read_list(text: str) -> list[Any]:
    """The entries of a list. Raises RefusedError, which shows nothing of it: it holds keys."""
    try:
        found = parse_json(text)
    except ValueError:
        found = None
    if not (isinstance(found, list) and found):
        raise RefusedError(
            HTTPStatus.BAD_REQUEST,
            f"expected a JSON list of 1 to {MOST_CONFIGURATIONS:,} configurations, found something "
            f"else; open the file that ticore detect --config takes",
        )
    # Beside its configurations a list may have entries that stand for none.
    if (count := max(len(found), count_configurations(found))) > MOST_CONFIGURATIONS:
        raise RefusedError(
            HTTPStatus.BAD_REQUEST,
            f"expected a list of at most {MOST_CONFIGURATIONS:,} configurations, found {count:,}: "
            f"an entry stands for each combination of its keys, schemes and contexts; open a "
            f"shorter list",
        )
    for number, entry in enumerate(found, 1):
        if named := [name for name in _FILES if isinstance(entry, dict) and name in entry]:
            raise RefusedError(
                HTTPStatus.BAD_REQUEST,
                f"configuration {number}: expected a key, found {named[0]}; the page reads no "
                f"other files, so put the key itself in the list",
            )
    return found


def open_list(
    tokenizer: Tokenizer, entries: list[Any], place: str, tokenizations: Tokenizations
) -> AnyWatermarkDetector:
    """The detector of all entries; tokenizations: see `WatermarkDetector.any`.

    Raises:
        SettingsError, CredentialError: an entry is wrong. The error says which, and shows no key.
    """
    try:
        return WatermarkDetector.any(
            tokenizer, entries, tokenizer_place=place, tokenizations=tokenizations
        )
    except CredentialError as error:
        raise CredentialError(f"{error}; mend the list and open it again") from None
