"""SentencePiece models (`tokenizer.model`) as ticore tokenizers: `sentencepiece:FILE`."""

from __future__ import annotations

from ticore.interfaces import TokenizerBackend

from .tokenizer import SentencePieceTokenizer

__all__ = ["BACKEND", "SentencePieceTokenizer"]


class _Backend:
    summary = "SentencePiece models, from a .model file"

    def load(self, location: str) -> SentencePieceTokenizer:
        return SentencePieceTokenizer.from_file(location)


BACKEND: TokenizerBackend = _Backend()
