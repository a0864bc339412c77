"""Texts for a detector: their ids, and how many of them are read together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import suppress
from typing import TypeVar

from ..errors import TicoreError
from ..interfaces import Tokenizer

# Texts are scored together up to this many tokens. That is little work per text, and the arrays
# stay in the processor's cache.
_MOST_TOGETHER = 1 << 13

_Ids = TypeVar("_Ids")
_Found = TypeVar("_Found")


def detected_each(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    detect: Callable[[list[Sequence[int]]], Iterable[_Found]],
) -> list[_Found | TicoreError]:
    """What `detect` gives for the ids of each text, or the error that encoding it raises."""
    encoded = _encoded_each(tokenizer, texts)
    found = iter(detect([ids for ids in encoded if not isinstance(ids, TicoreError)]))
    return [ids if isinstance(ids, TicoreError) else next(found) for ids in encoded]


def _encoded_each(
    tokenizer: Tokenizer, texts: Sequence[str]
) -> Sequence[Sequence[int] | TicoreError]:
    if all(isinstance(text, str) for text in texts):
        with suppress(TicoreError):  # one of them cannot be encoded
            return tokenizer.encode_batch(texts)
    found: list[Sequence[int] | TicoreError] = []
    for text in texts:
        try:
            found.append(tokenizer.encode(text))
        except TicoreError as error:
            found.append(error)
    return found


def read_together(lists: Sequence[_Ids]) -> Iterator[list[_Ids]]:
    """Neighbouring lists of ids in parts, each with few tokens or one list."""
    together: list[_Ids] = []
    count = 0
    for ids in lists:
        length = len(ids) if isinstance(ids, Sized) else 0
        if together and count + length > _MOST_TOGETHER:
            yield together
            together, count = [], 0
        together.append(ids)
        count += length
    if together:
        yield together
