"""Hugging Face `tokenizer.json` files as ticore tokenizers: `tokenizers:FILE`.

A tokenizer in memory is taken as well, see `ticore.wrap`.
"""

from __future__ import annotations

from tokenizers import Tokenizer

from ticore.interfaces import AdoptingBackend

from ._tokenizer import HuggingFaceTokenizer

__all__ = ["BACKEND", "HuggingFaceTokenizer"]


class _Backend:
    summary = "Hugging Face tokenizers, from a tokenizer.json or a folder that holds one"

    def load(self, location: str) -> HuggingFaceTokenizer:
        return HuggingFaceTokenizer.from_file(location)

    def adopt(self, found: object) -> HuggingFaceTokenizer | None:
        """Wraps a `tokenizers.Tokenizer`, or the one inside a fast tokenizer of transformers."""
        inner = getattr(found, "backend_tokenizer", found)
        return HuggingFaceTokenizer(inner) if isinstance(inner, Tokenizer) else None


BACKEND: AdoptingBackend = _Backend()
