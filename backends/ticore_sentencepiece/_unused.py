"""Unused pieces of a BPE model: those that the library may merge, and those that it never makes.

BPE merges two neighbours if together they are a piece, an unused one too, and splits unused pieces
again at the end. How it splits one depends on what else stands in the text. But most unused pieces
are names such as `[PAD32000]`, which fill a vocabulary: no two pieces make them.
"""

from __future__ import annotations

from typing import Any

from ._proto import Piece

_MERGED = (Piece.NORMAL, Piece.USER_DEFINED, Piece.UNUSED)


def first_merged_unused(model: Any) -> str | None:
    """An unused piece that BPE may find in a text; None if it finds none.

    It may find a piece of one character, and one that is made of two: of pieces that it may find
    itself, or of characters.
    """
    unused: set[str] = {piece.piece for piece in model.pieces if piece.type == Piece.UNUSED}
    made = {piece.piece for piece in model.pieces if piece.type in _MERGED} - unused
    waiting = sorted(unused, key=len)  # a piece is made of shorter ones
    for text in waiting:
        if len(text) == 1 or any(
            _is_made(text[:n], made) and _is_made(text[n:], made) for n in range(1, len(text))
        ):
            return text
    return None


def _is_made(text: str, made: set[str]) -> bool:
    return len(text) == 1 or text in made
