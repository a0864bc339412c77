"""Reading tokens off a text with the tokenizer, and what every reader says of a wrong text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import ExtractionError, OutsidePoolError, SettingsError
from ..unicode import require_unicode
from .base import Beginning, Choices


def retokenised(beginning: Beginning, text: str) -> TokenReader:
    """Reads the tokens that `encode` finds in `text`, from the prompt's end on.

    Raises ExtractionError where the text cannot be one of this prompt's.
    """
    behind_prompt(beginning, text)  # for what it raises
    ids = beginning.tokenizer.encode(text)
    if beginning.view == "continuation":
        return TokenReader(ids)
    count = len(beginning.prompt_ids)
    if ids[:count] != list(beginning.prompt_ids):
        raise ExtractionError(
            "the text goes on so that the end of the prompt reads as other tokens; "
            "the text was altered or written with other settings"
        )
    return TokenReader(ids[count:])


class TokenReader:
    """Walks along tokens."""

    def __init__(self, ids: Sequence[int]) -> None:
        self._ids = ids
        self._at = 0

    @property
    def foreseen(self) -> Sequence[int]:
        return self._ids

    @property
    def exhausted(self) -> bool:
        return self._at == len(self._ids)

    def locate(self, choices: Choices) -> int:
        found = np.flatnonzero(choices.ids == self._ids[self._at])
        self._at += 1
        if len(found):
            return int(found[0])
        raise outside_pool(self._at)


def behind_prompt(beginning: Beginning, text: str) -> str:
    """What `text` says after the prompt, all of it where the prompt was not sent.

    Raises ExtractionError where it begins with another prompt, or is not valid Unicode.
    """
    try:
        require_unicode(text)
    except SettingsError as error:
        raise ExtractionError(str(error)) from None
    if beginning.view == "continuation":
        return text
    if not text.startswith(beginning.prompt):
        raise ExtractionError(
            f"expected a text that begins with the prompt {_start_of(beginning.prompt)}, found "
            f"{_start_of(text)}; the prompt differs, or the text's beginning is missing"
        )
    return text[len(beginning.prompt) :]


def outside_pool(number: int) -> OutsidePoolError:
    """The text's token of this number, from 1 on, was none of the choices."""
    return OutsidePoolError(
        f"token {number} of the text is none that could have been written there; the "
        f"text was altered or cut, or written with another model, prompt or other settings"
    )


def _start_of(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
