"""A SentencePiece model as a TokenizerStructure, if a structure can describe it exactly.

The library reads a U+2581 in a text as a space. `normalize` does the same; where it is None, the
core must do so. The dummy prefix is put once, before the whole text, and added tokens are found
after that.

Unigram scores are summed from the beginning of the text. From version 0.2.2 on, the library starts
a new sum at zero when a sum falls below -100,000, which changes how later sums are rounded. The
structure does not cover such texts, which have ten thousand tokens and more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import sentencepiece

from ticore.backend_kit import NoStructure
from ticore.interfaces import TokenizerStructure

from . import _symbols as symbols
from ._character_maps import read_character_map
from ._proto import SPACE, Model, Piece, TrainerSpec, byte_of
from ._unused import first_merged_unused

_MAPS = ("nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf")
"""Character maps of the library. Any other name is that of a map of one's own."""
# A character that is not a piece scores this far below the least probable piece.
_UNKNOWN_PENALTY = 10


def describe(proto: bytes) -> TokenizerStructure:
    """The structure of a serialized model that `parse` accepts.

    Raises:
        NoStructure: none is exact.
    """
    model = Model.FromString(proto)
    kind = _kind(model)
    _require_plain(model)
    if kind == "unigram":
        return _describe_unigram(model)
    normalizer = model.normalizer_spec
    scores = np.array([piece.score for piece in model.pieces], dtype=np.float32)
    return TokenizerStructure(
        kind=kind,
        atoms="characters",
        pieces=np.array([_is_found(piece, Piece.NORMAL) for piece in model.pieces]),
        ranks=_ranks(scores),
        byte_ids=_byte_ids(model),
        normalizer=_normalizer_name(normalizer),
        normalize=_normalize(model),
        replacements=_replacements(model),
        dummy_prefix=normalizer.add_dummy_prefix and not _has_suffix(model),
        dummy_suffix=_has_suffix(model),
        keeps_whitespace=not normalizer.remove_extra_whitespaces,
        added_tokens={
            piece.piece.replace(SPACE, " "): i
            for i, piece in enumerate(model.pieces)
            if _is_found(piece, Piece.USER_DEFINED)
        },
    )


def _has_suffix(model: Any) -> bool:
    """Whether the dummy prefix stands after the text. That is all that the setting does."""
    is_suffix: bool = model.trainer_spec.treat_whitespace_as_suffix
    return is_suffix and bool(model.normalizer_spec.add_dummy_prefix)


def _is_found(piece: Any, kind: int) -> bool:
    """Whether a piece is of a kind, and found in a text.

    Spaces become U+2581 before pieces are looked for, so a piece with a space is never found.
    """
    return piece.type == kind and " " not in piece.piece


def _describe_unigram(model: Any) -> TokenizerStructure:
    """User-defined symbols compete with the other pieces, with scores of their own."""
    normalizer, types = model.normalizer_spec, np.array([piece.type for piece in model.pieces])
    scores = np.array([piece.score for piece in model.pieces], dtype=np.float32)
    normal, defined = types == Piece.NORMAL, types == Piece.USER_DEFINED
    unknown = None
    if not normal.any():
        raise NoStructure("it has no pieces but user-defined symbols, and no least probable one")
    if defined.any():
        for i in np.flatnonzero(defined).tolist():
            scores[i] = symbols.score(model.pieces[i].piece)
        unknown = float(scores[normal].min() - np.float32(_UNKNOWN_PENALTY))
    return TokenizerStructure(
        kind="unigram",
        atoms="characters",
        pieces=normal | defined,
        scores=scores,
        byte_ids=_byte_ids(model),
        normalizer=_normalizer_name(normalizer),
        normalize=_normalize(model),
        replacements=_replacements(model),
        dummy_prefix=normalizer.add_dummy_prefix and not _has_suffix(model),
        dummy_suffix=_has_suffix(model),
        keeps_whitespace=not normalizer.remove_extra_whitespaces,
        unknown_score=unknown,
    )


def _byte_ids(model: Any) -> tuple[int, ...]:
    """The library requires the ids of all bytes, or none."""
    found = {byte_of(piece): i for i, piece in enumerate(model.pieces) if piece.type == Piece.BYTE}
    return tuple(found[byte] for byte in sorted(found))


def _kind(model: Any) -> Literal["bpe", "unigram"]:
    algorithm = model.trainer_spec.model_type
    types = {piece.type for piece in model.pieces}
    if algorithm == TrainerSpec.BPE:
        if (text := first_merged_unused(model)) is not None:
            raise NoStructure(
                f"its model has the unused piece {text!r}, which BPE may merge and split again; "
                f"save it without such pieces (their type is UNUSED)"
            )
        if not _is_ordered(model):
            raise NoStructure("versions of sentencepiece disagree on the order of its scores")
        return "bpe"
    if algorithm == TrainerSpec.UNIGRAM:
        if Piece.USER_DEFINED in types:
            symbols.require_known_scores()
        return "unigram"
    raise NoStructure("its model is neither BPE nor unigram")


def _is_ordered(model: Any) -> bool:
    """Whether all versions of the library agree on which score is higher.

    From 0.2.2 on the bits of scores are compared, and -0.0 is below 0.0.
    """
    scores = [piece.score for piece in model.pieces if piece.type == Piece.NORMAL]
    signs_of_zero = {math.copysign(1, score) for score in scores if score == 0}
    return len(signs_of_zero) < 2 and not any(map(math.isnan, scores))


def _require_plain(model: Any) -> None:
    normalizer = model.normalizer_spec
    normal, added = _texts(model, Piece.NORMAL), _texts(model, Piece.USER_DEFINED)
    if _has_suffix(model) and not normalizer.remove_extra_whitespaces:
        raise NoStructure(
            "it puts a space after each text, and keeps those that are there "
            "(treat_whitespace_as_suffix without remove_extra_whitespaces): no text is read back"
        )
    # Without this piece a space is unknown, or becomes the three bytes of U+2581.
    if not normalizer.escape_whitespaces or SPACE not in normal | added:
        raise NoStructure("a single space is no piece of its model")
    if model.trainer_spec.model_type == TrainerSpec.BPE:
        _require_apart(normalizer, added)
        return
    # The scores of pieces that are never found count for characters that are unknown.
    if any(" " in text for text in normal | added):
        raise NoStructure("some of its pieces hold a plain space")
    if added and (normalizer.precompiled_charsmap or normalizer.remove_extra_whitespaces):
        # Added tokens are found in the normalized text, and limit what the normalizer rewrites.
        has_bytes = any(piece.type == Piece.BYTE for piece in model.pieces)
        alphabet = None if has_bytes else set[str]().union(*normal, *added)
        symbols.require_left_alone(normalizer, added, alphabet)


def _require_apart(normalizer: Any, added: set[str]) -> None:
    """Refuse user-defined symbols that do not simply set texts apart for the normalizer.

    The library looks for these symbols twice. In the text as it is, they limit what the normalizer
    rewrites; a symbol with a U+2581 is not found there where the text has a space. Then they are
    found in the normalized text. Of the library's character maps, none rewrites an ASCII character
    together with one before it.
    """
    if added and normalizer.remove_extra_whitespaces:
        raise NoStructure("it has user-defined symbols, and a normalizer that drops spaces")
    if not (added and normalizer.precompiled_charsmap):
        return
    if _normalizer_name(normalizer) not in _MAPS:
        raise NoStructure("it has user-defined symbols, and a character map of its own")
    for text in sorted(added):
        if {" ", SPACE}.intersection(text) or not text[0].isascii():
            raise NoStructure(f"its normalizer may rewrite the user-defined symbol {text!r}")


def _texts(model: Any, kind: int) -> set[str]:
    return {piece.piece for piece in model.pieces if piece.type == kind}


def _ranks(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.int32]:
    """0 for the highest score, 1 for the next lower one, and so on; equal scores rank equally."""
    _, ranks = np.unique(-scores, return_inverse=True)
    return ranks.astype(np.int32)


def _normalizer_name(normalizer: Any) -> str:
    """The character map alone decides how a text is normalized; a name without a map is ignored."""
    if not normalizer.precompiled_charsmap:
        return "identity"
    return normalizer.name if normalizer.name in _MAPS else "character_map"


def _replacements(model: Any) -> dict[str, str]:
    """What a character map of the model's own replaces in texts that its tokens can spell."""
    if _normalizer_name(model.normalizer_spec) != "character_map":
        return {}
    texts = _texts(model, Piece.NORMAL) | _texts(model, Piece.USER_DEFINED)
    has_bytes = any(piece.type == Piece.BYTE for piece in model.pieces)
    # The map is used before a space is written as this sign.
    alphabet = None if has_bytes else set().union(*texts) - {SPACE} | {" "}
    return read_character_map(model.normalizer_spec.precompiled_charsmap, alphabet)


def _normalize(model: Any) -> Callable[[str], str] | None:
    """The model's own normalizer without its dummy prefix; None if it changes nothing."""
    spec = model.normalizer_spec
    if not (spec.precompiled_charsmap or spec.remove_extra_whitespaces):
        return None
    library = sentencepiece.SentencePieceNormalizer(
        model_proto=model.SerializeToString(),
        add_dummy_prefix=False,
        # `encode` trims a U+2581 at the end of a text like a space, and this setting does so, too.
        escape_whitespaces=True,
        remove_extra_whitespaces=spec.remove_extra_whitespaces,
    )

    def normalize(text: str) -> str:
        normal: str = library.normalize(text)
        return normal.replace(SPACE, " ")

    return normalize
