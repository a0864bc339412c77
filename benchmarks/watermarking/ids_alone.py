"""Token ids without a tokenizer: a detector of ids asks for no more than how many there are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IdsAlone:
    """A tokenizer whose tokens spell nothing.

    Attributes:
        vocab_size: number of ids.
    """

    vocab_size: int

    def token_bytes(self, _: int) -> bytes:
        return b""
