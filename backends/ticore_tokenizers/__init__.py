"""Hugging Face `tokenizer.json` files as ticore tokenizers: `tokenizers:FILE`."""

from __future__ import annotations

from ticore.interfaces import TokenizerBackend

from .tokenizer import HuggingFaceTokenizer

__all__ = ["BACKEND", "HuggingFaceTokenizer"]


class _Backend:
    summary = "Hugging Face tokenizers, from a tokenizer.json or a folder that holds one"

    def load(self, location: str) -> HuggingFaceTokenizer:
        return HuggingFaceTokenizer.from_file(location)


BACKEND: TokenizerBackend = _Backend()
