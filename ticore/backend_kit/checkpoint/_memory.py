"""Memory that a file needs and this machine does not have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import ModelFilesError


@contextmanager
def within_memory(path: Path, kind: str) -> Iterator[None]:
    """Raise ModelFilesError where the block runs out of memory.

    Args:
        path: what is loaded.
        kind: what it is, `model` or `tokenizer`.
    """
    try:
        yield
    except MemoryError as error:
        smaller = ", or a dtype of fewer bytes" if kind == "model" else ""
        raise ModelFilesError(
            f"{path}: expected a {kind} that this machine's memory holds, found one that it does "
            f"not; use a smaller one{smaller}"
        ) from error
