"""Which of the tokenizer's files is read."""

from __future__ import annotations

from pathlib import Path

from ...errors import ModelFilesError
from ...interfaces import Tokenizer, TokenizerLoader


def open_tokenizer(folder: Path, load_tokenizer: TokenizerLoader) -> Tokenizer:
    """The tokenizer in `folder`: tokenizer.model if it is SentencePiece's, else tokenizer.json.

    If there is neither, Mistral's tekken.json.

    Models that have both were trained with tokenizer.model. Their tokenizer.json is converted from
    it and encodes runs of spaces differently. Tokens that only tokenizer.json adds, such as marks
    of a dialogue, are then not tokens here, and a conversation that has them is refused. A
    tokenizer.model that is not SentencePiece's, such as the list of ranks of Llama 3, is left for
    tokenizer.json.

    Raises:
        ModelFilesError: neither is there, or what is there cannot be read. A tokenizer.model that
            is SentencePiece's but damaged is not passed over.
    """
    pieces, converted = folder / "tokenizer.model", folder / "tokenizer.json"
    if pieces.is_file():
        try:
            return load_tokenizer(f"sentencepiece:{pieces}")
        except ModelFilesError:
            if not converted.is_file() or _is_of_sentencepiece(pieces):
                raise
    if not converted.is_file():
        if (tekken := folder / "tekken.json").is_file():
            return load_tokenizer(f"tiktoken:{tekken}")
        raise ModelFilesError(
            f"{folder}: expected tokenizer.model or tokenizer.json, found neither; put it there, "
            f"or name another with tokenizer='BACKEND:LOCATION'"
        )
    return load_tokenizer(f"tokenizers:{converted}")


def _is_of_sentencepiece(file: Path) -> bool:
    """Whether a file begins as SentencePiece's do: with a piece, the first field of its format."""
    with file.open("rb") as opened:
        return opened.read(1) == b"\n"


def require_fits(folder: Path, tokenizer: Tokenizer, width: int) -> None:
    """Raise ModelFilesError if `tokenizer` has more ids than the `width` logits of the model."""
    if tokenizer.vocab_size > width:
        raise ModelFilesError(
            f"{folder}: expected a tokenizer of at most {width} ids, as many as the model has "
            f"logits, found {tokenizer.vocab_size}; use the tokenizer that the model was trained "
            f"with"
        )
