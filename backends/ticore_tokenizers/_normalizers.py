"""How a tokenizer.json reads a text before BPE begins.

Two families are known: byte-level tokenizers, such as that of GPT-2, and tokenizers that write a
space as U+2581, such as Llama's converted SentencePiece files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ticore.interfaces import Split

TokenizerJson = Mapping[str, Any]
"""A tokenizer.json, or a part of it, as the library writes it."""

Normalize = Callable[[str], str]


@dataclass(frozen=True)
class NormalizerRules:
    """How a text is read before BPE begins: fields of TokenizerStructure, and one more.

    Attributes:
        is_text: whether a token of this name is decoded as the text that BPE made it from.
    """

    atoms: Literal["bytes", "characters"]
    is_text: Callable[[str], bool]
    normalizer: str = "identity"
    normalize: Normalize | None = None
    pretokenizer: tuple[str | Split, ...] = ()
    dummy_prefix: bool = False
    replacements: Mapping[str, str] = field(default_factory=dict)
    adds_leading_space: bool = False
    keeps_whitespace: bool = True
