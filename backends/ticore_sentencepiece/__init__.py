"""SentencePiece models (`tokenizer.model`) as ticore tokenizers: `sentencepiece:FILE`.

`ticore.wrap` takes a SentencePieceProcessor that is in memory.
"""

from __future__ import annotations

from typing import Any

import sentencepiece

from ticore.errors import ModelFilesError
from ticore.interfaces import AdoptingBackend

from ._tokenizer import SentencePieceTokenizer

__all__ = ["BACKEND", "SentencePieceTokenizer"]


class _Backend:
    summary = "SentencePiece models, from a .model file"

    def load(self, location: str) -> SentencePieceTokenizer:
        return SentencePieceTokenizer.from_file(location)

    def adopt(self, found: object) -> SentencePieceTokenizer | None:
        """The tokenizer of a SentencePieceProcessor, or of a slow tokenizer of transformers.

        Returns:
            None for any other object.

        Raises:
            ModelFilesError: the slow tokenizer's ids are not those of its SentencePiece model, or
                the processor reverses its ids or draws them at random.
        """
        inner = getattr(found, "sp_model", found)
        if not isinstance(inner, sentencepiece.SentencePieceProcessor):
            return None
        if inner is not found:
            _require_own_ids(found, inner)
        _require_plain(inner)
        return SentencePieceTokenizer(inner.serialized_model_proto())


def _require_plain(processor: Any) -> None:
    """Refuse a processor whose options change the ids of a text, except for those around it.

    Raises:
        ModelFilesError: it has such options.
    """
    for option in ("reverse", "enable_sampling"):
        if getattr(processor, f"_{option}", False):
            raise ModelFilesError(
                f"expected a processor that gives the ids of its model, found {option}; "
                f"open it without"
            )


def _require_own_ids(found: Any, inner: Any) -> None:
    """Refuse a tokenizer whose ids differ from those of its SentencePiece model.

    Raises:
        ModelFilesError: they differ.
    """
    ids = list(range(inner.get_piece_size()))
    if len(found) != len(ids) or found.convert_ids_to_tokens(ids) != inner.id_to_piece(ids):
        raise ModelFilesError(
            f"expected a tokenizer with the ids of its SentencePiece model, found a "
            f"{type(found).__name__} that moves or adds some; give its tokenizer.json: "
            f"ticore.load_tokenizer('tokenizers:FILE')"
        )


BACKEND: AdoptingBackend = _Backend()
