"""What says that something is not exact for a tokenizer."""

from __future__ import annotations


class Unsupported(Exception):
    """Something is not exact for a tokenizer, and must not be used for it. The text says why."""
