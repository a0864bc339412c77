"""Checks that only backends need: number formats, files of tokens, errors of their libraries."""

from __future__ import annotations

from ..errors import ModelFilesError, SettingsError

# Vocabularies leave a few ids out, such as reserved ones, so the highest id may exceed the number
# of tokens: by this factor and this many.
_IDS_PER_TOKEN, _SPARE_IDS = 4, 100_000


def require_float64(dtype: str) -> None:
    """Refuse a model that computes in less than float64.

    Only float64 leaves digits that every machine reproduces.

    Raises:
        SettingsError: `dtype` is another one, such as float32.
    """
    if dtype != "float64":
        raise SettingsError(
            f"expected a model that computes in float64, as portable numerics needs, "
            f"found {dtype}; load it with dtype='float64'"
        )


def require_dense(highest: int, tokens: int) -> None:
    """Refuse a file whose ids are far higher than its number of tokens.

    A table with a place for each id up to the highest would fill the memory.

    Args:
        highest: the highest id in the file.
        tokens: how many tokens the file holds.

    Raises:
        ModelFilesError: `highest` is too high.
    """
    most = _IDS_PER_TOKEN * tokens + _SPARE_IDS
    if highest > most:
        raise ModelFilesError(
            f"expected ids up to {most:,} for {tokens:,} tokens, found the id {highest:,}; "
            f"correct the file, or fetch it again"
        )


def is_of_library(error: BaseException) -> bool:
    """Whether an error that a library raised is about what the library was given.

    Libraries written in Rust raise a panic, which is a BaseException but not an Exception. An
    interrupt or a full memory is not about what the library was given.
    """
    return not isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit | MemoryError)


def tokenizer_failure(error: BaseException, read: str) -> BaseException:
    """What to raise after the library of a tokenizer raised `error`.

    Args:
        error: what the library raised.
        read: what the library was given, such as `a text of 12 characters`.

    Returns:
        A ModelFilesError; or `error` itself if it is not about what the library was given.
    """
    if not is_of_library(error):
        return error
    return ModelFilesError(
        f"expected a tokenizer that reads and writes every text, found one that fails at {read} "
        f"({error}); correct its file, or choose another tokenizer"
    )


def first_line(error: Exception) -> str:
    """What an error of another library says, on one line."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
