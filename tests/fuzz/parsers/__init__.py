"""The code of this project that reads files and texts of other people.

Parsers that need the same packages are in one module and run in one process.
"""

from __future__ import annotations

from importlib import import_module

from .base import Parser

GROUPS = ("messages", "engines", "tokenizers", "embedded", "gguf", "jax", "torch", "corpora")


def parsers_of(group: str) -> list[Parser]:
    """The parsers of one of these modules."""
    found: list[Parser] = import_module(f"{__name__}.{group}").PARSERS
    return found
