"""What there is to say about how a tokenizer.json reads a text before BPE begins.

Two families are known: byte-level ones, as GPT-2's, and those that mark spaces with U+2581, as
Llama's converted SentencePiece files do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

State = Mapping[str, Any]
"""A tokenizer.json, or a part of it, as the library writes it."""

Normalize = Callable[[str], str]


@dataclass(frozen=True)
class Reading:
    """How a text is read.

    Attributes:
        is_text: whether a token is decoded as the text that BPE puts it together from, by its name.

    The others are fields of TokenizerStructure.
    """

    atoms: Literal["bytes", "characters"]
    is_text: Callable[[str], bool]
    normalizer: str = "identity"
    normalize: Normalize | None = None
    pretokenizer: tuple[str, ...] = ()
    dummy_prefix: bool = False
