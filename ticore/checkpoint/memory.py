"""Memory that a model needs and this machine does not have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import ModelFilesError


@contextmanager
def within_memory(folder: Path) -> Iterator[None]:
    """Raise ModelFilesError where the block runs out of memory; `folder` says whose model it is."""
    try:
        yield
    except MemoryError as error:
        raise ModelFilesError(
            f"{folder}: expected a model that this machine's memory holds, found one that it does "
            f"not; use a dtype of fewer bytes, such as float32, or a smaller model"
        ) from error
