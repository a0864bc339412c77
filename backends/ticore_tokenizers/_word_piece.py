"""WordPiece, BERT's tokenizer: words, and pieces of words that begin with a prefix such as "##".

Its decoder puts a space before each word. The library may tidy the spaces up, which depends on the
tokens around; this is turned off, so that each token has bytes of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokenizers import Tokenizer, decoders

from ._spelling import Spelling

LOSSES = (
    "WordPiece keeps no white space, and writes a word that it does not know as one unknown token"
)
"""What becomes of a text that a WordPiece tokenizer reads."""

_CHANGED_BY = {
    "lowercase": "case",
    "strip_accents": "accents",
    "clean_text": "control characters",
}


def is_word_piece(state: Mapping[str, Any]) -> bool:
    """Whether a tokenizer.json is WordPiece, and its decoder writes what its model reads."""
    model, decoder = state["model"], state["decoder"]
    return (
        model["type"] == "WordPiece"
        and decoder is not None
        and decoder["type"] == "WordPiece"
        and decoder["prefix"] == model["continuing_subword_prefix"]
    )


def keep_spaces(library: Tokenizer, state: Mapping[str, Any]) -> None:
    """Turn off that the decoder tidies up spaces."""
    library.decoder = decoders.WordPiece(prefix=state["decoder"]["prefix"], cleanup=False)


def word_spelling(decoder: Mapping[str, Any]) -> Spelling:
    """The function from a token's name to its bytes.

    >>> spell = word_spelling({"type": "WordPiece", "prefix": "##"})
    >>> spell("play"), spell("##ing")
    (b' play', b'ing')
    """
    prefix = decoder["prefix"]

    def spell(name: str) -> bytes:
        begins = name.startswith(prefix)
        return name.removeprefix(prefix).encode() if begins else f" {name}".encode()

    return spell


def losses(state: Mapping[str, Any]) -> str:
    """What a text loses when a WordPiece tokenizer reads and writes it."""
    match state["normalizer"]:
        case {"type": "BertNormalizer", "lowercase": lowercase, "strip_accents": accents, **rest}:
            # Accents are stripped with the case unless that is set by itself.
            accents = lowercase if accents is None else accents
            told = {**rest, "lowercase": lowercase, "strip_accents": accents}
            changed = [word for name, word in _CHANGED_BY.items() if told.get(name)]
        case {"type": "Lowercase"}:
            changed = ["case"]
        case None:
            changed = []
        case _:
            changed = ["what its normalizer changes"]
    return LOSSES + (f"; it also loses {', '.join(changed)}" if changed else "")
