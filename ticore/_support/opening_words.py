"""Words that a text may begin with where nobody gives any."""

from __future__ import annotations

from collections.abc import Mapping

_ENGLISH = "The morning was cold and"
_OF_ONE_LANGUAGE: Mapping[str, str] = {"tiny-ja": "その朝は寒く、", "tiny-zh": "那天早上很冷，"}


def opening_words(model: str) -> str:
    """How a text begins in the language of the model at a place; English where it knows several.

    >>> opening_words("smollm2"), opening_words("tiny-ja")
    ('The morning was cold and', 'その朝は寒く、')
    """
    return _OF_ONE_LANGUAGE.get(model, _ENGLISH)
