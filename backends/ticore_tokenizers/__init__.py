"""Hugging Face `tokenizer.json` files as ticore tokenizers: `tokenizers:FILE`.

`tokenizers:FOLDER#transformers` is the tokenizer that transformers opens there.

`ticore.wrap` takes a tokenizer of this library that is in memory.
"""

from __future__ import annotations

from tokenizers import Tokenizer

from ticore.interfaces import AdoptingBackend

from ._checkpoint import open_as_transformers, require_exact
from ._tokenizer import HuggingFaceTokenizer

__all__ = ["BACKEND", "HuggingFaceTokenizer"]

_AS_TRANSFORMERS = "#transformers"


class _Backend:
    summary = "Hugging Face tokenizers, from a tokenizer.json or a folder that holds one"

    def load(self, location: str) -> HuggingFaceTokenizer:
        if location.endswith(_AS_TRANSFORMERS):
            return open_as_transformers(location.removesuffix(_AS_TRANSFORMERS))
        return HuggingFaceTokenizer.from_file(location)

    def adopt(self, found: object) -> HuggingFaceTokenizer | None:
        """The tokenizer of a `tokenizers.Tokenizer`, or of a fast tokenizer of transformers.

        Returns:
            None for any other object.

        Raises:
            ModelFilesError: as `HuggingFaceTokenizer`, or its options change what it writes.
        """
        inner = getattr(found, "backend_tokenizer", found)
        if not isinstance(inner, Tokenizer):
            return None
        require_exact(found, inner)
        return HuggingFaceTokenizer(inner)


BACKEND: AdoptingBackend = _Backend()
