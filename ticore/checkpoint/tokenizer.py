"""Which of the tokenizer's files is read."""

from __future__ import annotations

from pathlib import Path

from ..errors import ModelFilesError
from ..interfaces import Tokenizer, TokenizerLoader


def open_tokenizer(folder: Path, load_tokenizer: TokenizerLoader) -> Tokenizer:
    """The tokenizer in `folder`: tokenizer.model if it is SentencePiece's, else tokenizer.json.

    Of models that have both, the former is what they were trained with; the latter is converted
    from it, and reads runs of spaces otherwise. Tokens added in tokenizer.json alone, such as marks
    of a dialogue, are then no tokens here. A tokenizer.model may also be a list of ranks, as that
    of Llama 3, beside which tokenizer.json says the same and more.

    Raises:
        ModelFilesError: neither is there, or what is there cannot be read.
    """
    pieces, converted = folder / "tokenizer.model", folder / "tokenizer.json"
    if pieces.is_file():
        try:
            return load_tokenizer(f"sentencepiece:{pieces}")
        except ModelFilesError:
            if not converted.is_file():
                raise
    if not converted.is_file():
        raise ModelFilesError(
            f"{folder}: expected tokenizer.model or tokenizer.json, found neither; put it there, "
            f"or name another with tokenizer='BACKEND:LOCATION'"
        )
    return load_tokenizer(f"tokenizers:{converted}")


def require_fits(folder: Path, tokenizer: Tokenizer, width: int) -> None:
    """Raises ModelFilesError where some id of `tokenizer` has none of the `width` logits."""
    if tokenizer.vocab_size > width:
        raise ModelFilesError(
            f"{folder}: expected a tokenizer of at most {width} ids, as many as the model has "
            f"logits, found {tokenizer.vocab_size}; use the tokenizer that the model was trained "
            f"with"
        )
