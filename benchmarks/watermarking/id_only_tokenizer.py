"""A tokenizer without texts: a detector of token ids only needs to know how many ids there are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IdOnlyTokenizer:
    """A tokenizer whose tokens spell nothing.

    Attributes:
        vocab_size: the number of ids.
    """

    vocab_size: int

    def token_bytes(self, _: int) -> bytes:
        return b""

    def digest(self) -> str:
        """A name instead of a digest: a detector names its tokenizer by it."""
        return f"ids below {self.vocab_size}"
