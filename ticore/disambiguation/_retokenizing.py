"""Reading a text by retokenizing it, and the errors of all texts that cannot be read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._support.utf8 import require_unicode
from ..errors import ExtractionError, OutsidePoolError, SettingsError
from ._base import Choices, PromptContext


def retokenized(context: PromptContext, text: str) -> ReceivedTokens:
    """The tokens that `encode` finds in `text` after the prompt.

    Raises:
        ExtractionError: the text cannot have been written after this prompt.
    """
    text_after_prompt(context, text)  # for what it raises
    ids = encoded(context, text)
    if context.view == "continuation":
        return ReceivedTokens(ids)
    count = len(context.prompt_ids)
    if ids[:count] != list(context.prompt_ids):
        raise ExtractionError(
            "the text goes on so that the end of the prompt reads as other tokens; "
            "the text was altered or written with other settings"
        )
    return ReceivedTokens(ids[count:])


def encoded(context: PromptContext, text: str) -> list[int]:
    """The tokens of a received text. Raises ExtractionError where the tokenizer refuses it."""
    try:
        return context.tokenizer.encode(text)
    except SettingsError as error:
        raise ExtractionError(f"the text cannot be read: {error}") from error


class ReceivedTokens:
    """A ReceivedText whose tokens are known from the start."""

    def __init__(self, ids: Sequence[int]) -> None:
        self._ids = ids
        self._at = 0

    @property
    def known_ids(self) -> Sequence[int]:
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


def text_after_prompt(context: PromptContext, text: str) -> str:
    """The part of `text` after the prompt; all of it where the prompt is not sent.

    Raises:
        ExtractionError: the text begins with another prompt, or is not valid Unicode.
    """
    try:
        require_unicode(text)
    except SettingsError as error:
        raise ExtractionError(str(error)) from None
    if context.view == "continuation":
        return text
    if not text.startswith(context.prompt):
        raise ExtractionError(
            f"expected a text that begins with the prompt {_start_of(context.prompt)}, found "
            f"{_start_of(text)}; the prompt differs, or the text's beginning is missing"
        )
    return text[len(context.prompt) :]


def outside_pool(number: int) -> OutsidePoolError:
    """The error for the text's token of this number, from 1 on."""
    return OutsidePoolError(
        f"token {number} of the text cannot have been written there; the text was altered or "
        f"cut, or written with another model, prompt or other settings"
    )


def _start_of(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
