"""User-defined symbols of a unigram model.

The library finds them in a text before it normalizes what is between them. In the normalized text
they are pieces like others, with a score that grows with their length. So one of them loses to a
better segmentation across it, such as that into a piece that holds it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Set
from functools import cache
from typing import Any

import numpy as np
import sentencepiece

from ticore.backend_kit import CharacterMap, NoStructure

from ._proto import SPACE, Model, Piece, TrainerSpec

_BONUS = 0.1  # for each byte after the first
_HANGUL_VOWELS_AND_ENDS = range(0x1160, 0x1200)


def score(symbol: str) -> np.float32:
    """The score of a symbol, as the library spells it."""
    return np.float32(len(symbol.encode()) * _BONUS - _BONUS)


def require_known_scores() -> None:
    """Refuse a version of the library that scores symbols in another way than `score`.

    Raises:
        NoStructure: the installed version does.
    """
    if not _scores_are_known():
        raise NoStructure(
            f"it has user-defined symbols, which sentencepiece {sentencepiece.__version__} scores "
            f"in another way than 0.2.3; install that version"
        )


@cache
def _scores_are_known() -> bool:
    """Whether symbols lose to a piece with their score and win over one with a lower score."""
    for symbol in ("ab", "abcdefg", "\u3042\u3044"):
        own = score(symbol)
        lower = np.nextafter(own, np.float32(-1), dtype=np.float32)
        if _wins(symbol, float(own)) or not _wins(symbol, float(lower)):
            return False
    return True


def _wins(symbol: str, rival: float) -> bool:
    """Whether a symbol wins over a piece that holds it and another piece, whose score is zero."""
    model = Model()
    model.trainer_spec.model_type = TrainerSpec.UNIGRAM
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = False
    model.pieces.add(piece="<unk>", type=Piece.UNKNOWN)
    model.pieces.add(piece="z", score=0.0)
    model.pieces.add(piece=symbol + "z", score=rival)
    model.pieces.add(piece=symbol, type=Piece.USER_DEFINED)
    library = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    found: list[str] = library.encode(symbol + "z", out_type=str)
    return found == [symbol, "z"]


def require_left_alone(normalizer: Any, added: Set[str], alphabet: Set[str] | None) -> None:
    """Refuse symbols that would be normalized if they were not found before.

    For other symbols it makes no difference that the library finds them first.

    Args:
        normalizer: the model's specification.
        added: the symbols.
        alphabet: the characters that the tokens of the model can spell; None for all.

    Raises:
        NoStructure: for such a symbol.
    """
    for symbol in sorted(added):
        if normalizer.remove_extra_whitespaces and (SPACE in symbol or " " in symbol):
            raise NoStructure(f"its symbol {symbol!r} holds a space, and spaces are dropped")
        for character in symbol:
            code = ord(character)
            if unicodedata.category(character)[0] == "M" or code in _HANGUL_VOWELS_AND_ENDS:
                raise NoStructure(f"its symbol {symbol!r} has a character that joins another one")
    if not normalizer.precompiled_charsmap:
        return
    character_map = CharacterMap(normalizer.precompiled_charsmap)
    for symbol in sorted(added):
        for text, _ in character_map.replaced(set(symbol), alphabet):
            raise NoStructure(
                f"its symbol {symbol!r} is found before its normalizer changes {text!r}"
            )
