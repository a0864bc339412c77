"""The fields of a SentencePiece `.model` file, after a check that the library can run it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sentencepiece
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # has no stubs
from sentencepiece import sentencepiece_model_pb2

from ticore.errors import ModelFilesError

# mypy cannot see the classes of a protobuf module, which are made when it is imported.
Model: Any = sentencepiece_model_pb2.ModelProto  # type: ignore[attr-defined]
TrainerSpec: Any = sentencepiece_model_pb2.TrainerSpec  # type: ignore[attr-defined]
Piece: Any = Model.SentencePiece

SPACE = "\N{LOWER ONE EIGHTH BLOCK}"
"""How pieces spell a space."""


def parse(proto: bytes) -> Any:
    """The fields of a serialized model.

    Raises:
        ModelFilesError: `proto` is not a complete model, or its decoder rewrites text.
    """
    problem = ""
    try:
        model = Model.FromString(proto)
        # Pieces come first in the file. A file that ends between two pieces can be parsed, and the
        # library would run it with default settings. It reads an empty file as "load later".
        if not (model.HasField("trainer_spec") and model.HasField("normalizer_spec")):
            problem = "a file that is empty or ends too early"
        elif not all(isinstance(text, str) for text in _texts(model)):
            problem = "a damaged file"  # protobuf gives malformed UTF-8 as bytes
        else:
            sentencepiece.SentencePieceProcessor(model_proto=proto)
    except (DecodeError, RuntimeError) as error:
        problem = f"something else ({error})"
    if problem:
        raise ModelFilesError(
            f"expected a complete SentencePiece model, found {problem}; fetch the file again, or, "
            f"if it is a tiktoken file of the same name, open it with tiktoken:FILE#PATTERN"
        )
    if model.denormalizer_spec.precompiled_charsmap:
        raise ModelFilesError(
            "expected a model that decodes piece by piece, found one with a denormalizer, under "
            "which pieces have no bytes of their own; train or export it without one"
        )
    return model


def byte_of(piece: Any) -> int:
    """The byte that a byte piece stands for: 65 for `<0x41>`."""
    return int(piece.piece[3:5], 16)


def _texts(model: Any) -> Iterator[object]:
    yield model.trainer_spec.unk_surface
    yield model.normalizer_spec.name
    for piece in model.pieces:
        yield piece.piece
