"""What every backend checks: that ids have logits, that there is room, that numbers are wide.

And what it makes of an error of the library that it calls.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from .errors import (
    CapacityError,
    ModelFilesError,
    PromptError,
    SettingsError,
    WrongTypeError,
)

# Ids are counted up to the highest. Vocabularies leave a few out, such as reserved ones.
_IDS_PER_TOKEN, _SPARE_IDS = 4, 100_000


class Bounded(Protocol):
    """A model, as far as its limits go."""

    @property
    def logit_width(self) -> int:
        """Number of logits: ids are below it."""
        ...

    @property
    def context_length(self) -> int:
        """Most ids that a Decoder can read."""
        ...


def checked_ids(ids: Iterable[int], width: int) -> list[int]:
    """`ids` as Python integers. Raises SettingsError where one is not below `width`.

    Raises WrongTypeError for bytes: they are integers too, but of a text that was not decoded.
    """
    if isinstance(ids, str | bytes | bytearray):
        raise WrongTypeError(
            f"expected token ids, or a text (str) where one is taken, found "
            f"{type(ids).__name__}; decode bytes first, or encode a text with the tokenizer"
        )
    checked = []
    for token in ids:
        if not 0 <= token < width:
            raise SettingsError(
                f"expected token ids from 0 to {width - 1}, found {token}; "
                f"use the ids of the model's own tokenizer"
            )
        checked.append(int(token))
    return checked


def require_prompt_fits(count: int, context_length: int) -> None:
    """Raises PromptError where a prompt of `count` ids exceeds the context."""
    if count > context_length:
        raise PromptError(
            f"expected a prompt of at most {context_length} tokens, "
            f"found {count}; shorten the prompt"
        )


def require_scorable(count: int, context_length: int) -> None:
    """Raises CapacityError where `count` ids exceed the context by more than the unread last."""
    if count > context_length + 1:
        raise CapacityError(
            f"expected at most {context_length + 1} tokens to score, found {count}; "
            f"score a shorter text"
        )


def require_room(count: int, context_length: int) -> None:
    """Raises CapacityError where no id can follow `count` ids."""
    if count >= context_length:
        raise CapacityError(
            f"expected room for one more token, found the context full with "
            f"{count}; shorten the prompt or the text"
        )


def require_pushed(count: int, pushed: int) -> None:
    """Raises SettingsError where `count` ids are to be rewound of `pushed` ones that can be."""
    if not 0 <= count <= pushed:
        raise SettingsError(
            f"expected to rewind between 0 and the {pushed} pushed tokens, found {count}; "
            f"a prompt cannot be rewound, start another Decoder"
        )


def require_float64(dtype: str) -> None:
    """Raises SettingsError where a model computes in another `dtype`, such as float32.

    Only float64 leaves the digits that other machines reproduce.
    """
    if dtype != "float64":
        raise SettingsError(
            f"expected a model that computes in float64, as portable numerics needs, "
            f"found {dtype}; load it with dtype='float64'"
        )


def require_dense(highest: int, tokens: int) -> None:
    """Raises ModelFilesError where a file of so many tokens states an id far beyond their number.

    Whatever has a place for each id, up to the highest, would fill the memory.
    """
    most = _IDS_PER_TOKEN * tokens + _SPARE_IDS
    if highest > most:
        raise ModelFilesError(
            f"expected ids up to {most:,} for {tokens:,} tokens, found the id {highest:,}; "
            f"correct the file, or fetch it again"
        )


def is_of_library(error: BaseException) -> bool:
    """Whether an error that a library raised says that it failed at what it was given.

    A panic, as libraries written in Rust raise it, is no Exception. Interrupts are none of theirs,
    and running out of memory is no fault of what they were given.
    """
    return not isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError)


def tokenizer_failure(error: BaseException, read: str) -> BaseException:
    """What to raise where the library of a tokenizer raised `error`.

    Args:
        error: itself given back where it is not the library's own.
        read: what the library was given, such as `a text of 12 characters`.
    """
    if not is_of_library(error):
        return error
    return ModelFilesError(
        f"expected a tokenizer that reads and writes every text, found one that fails at {read} "
        f"({error}); correct its file, or choose another tokenizer"
    )
