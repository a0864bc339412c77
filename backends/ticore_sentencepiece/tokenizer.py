"""One SentencePiece model behind the Tokenizer interface.

SentencePiece writes a space as U+2581, so a U+2581 in a text comes back as a space. It spells an
unknown or unused piece like any other (` ⁇ ` for an unknown one), and so does this adapter: only
control ids are silent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import sentencepiece
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # has no stubs
from sentencepiece import sentencepiece_model_pb2

from ticore.errors import ModelFilesError
from ticore.interfaces import TokenizerStructure
from ticore.unicode import require_unicode

# mypy cannot see the classes of a protobuf module, which are made when it is imported.
_ModelProto: Any = sentencepiece_model_pb2.ModelProto  # type: ignore[attr-defined]
_TrainerSpec: Any = sentencepiece_model_pb2.TrainerSpec  # type: ignore[attr-defined]
_Piece: Any = _ModelProto.SentencePiece

# Characters; for fewer, the library takes longer to start its threads than to encode.
_THREADS_PAY = 32_768
_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"
_DIGEST_LABEL = b"ticore tokenizer: sentencepiece\0"


class SentencePieceTokenizer:
    """A tokenizer from a serialized SentencePiece model.

    Args:
        proto: what a `.model` file holds.

    Raises:
        ModelFilesError: `proto` is no complete model, or its decoder rewrites text.
    """

    def __init__(self, proto: bytes) -> None:
        model = _parse(proto)
        self._library = sentencepiece.SentencePieceProcessor(model_proto=proto)
        self._control = _ids_of(model, _Piece.CONTROL)
        self._special = self._control | _ids_of(model, _Piece.UNKNOWN, _Piece.UNUSED)
        self._bytes = [_spell(piece, model.trainer_spec.unk_surface) for piece in model.pieces]
        self._structure = _describe(model)
        self._digest = hashlib.sha256(_DIGEST_LABEL + proto).hexdigest()

    @classmethod
    def from_file(cls, path: str | Path) -> SentencePieceTokenizer:
        """Open a `.model` file.

        Raises:
            ModelFilesError: the file is missing, unreadable, or no SentencePiece model.
        """
        try:
            return cls(Path(path).read_bytes())
        except OSError as error:
            raise ModelFilesError(
                f"{path}: expected a SentencePiece .model file, found none that can be read "
                f"({error.strerror}); check the path"
            ) from None
        except ModelFilesError as error:
            raise ModelFilesError(f"{path}: {error}") from None

    @property
    def vocab_size(self) -> int:
        return len(self._bytes)

    @property
    def special_ids(self) -> frozenset[int]:
        """Control and unknown ids, and unused pieces, which `encode` never gives."""
        return self._special

    def encode(self, text: str) -> list[int]:
        """Ids of `text`. Raises SettingsError if it holds a lone surrogate."""
        require_unicode(text)
        ids: list[int] = self._library.encode(text)
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`[encode(t) for t in texts]`, on several threads where there is much to do."""
        if sum(map(len, texts)) < _THREADS_PAY:
            return [self.encode(text) for text in texts]
        for text in texts:
            require_unicode(text)
        batch: list[list[int]] = self._library.encode(list(texts))
        return batch

    def decode(self, ids: Sequence[int]) -> str:
        """Text of `ids`, without the leading space if the model adds or removes one.

        That space goes only where a piece spells it: the byte piece `<0x20>` keeps its own.
        """
        # A control id spells nothing, yet to the library it ends a character spelled in bytes.
        text: str = self._library.decode([int(i) for i in ids if i not in self._control])
        return text

    def token_bytes(self, token: int) -> bytes:
        return self._bytes[token]

    def structure(self) -> TokenizerStructure | None:
        return self._structure

    def digest(self) -> str:
        return self._digest


def _parse(proto: bytes) -> Any:
    """The fields of a model that the library is able to run."""
    problem = ""
    try:
        model = _ModelProto.FromString(proto)
        # Pieces come first in the file. One cut between two of them parses, and the library
        # would run it with default settings; no bytes at all it takes for "load later".
        if not (model.HasField("trainer_spec") and model.HasField("normalizer_spec")):
            problem = "a file that is empty or ends too early"
        elif not all(isinstance(text, str) for text in _texts(model)):
            problem = "a damaged file"  # protobuf gives what is not UTF-8 as bytes
        else:
            sentencepiece.SentencePieceProcessor(model_proto=proto)
    except (DecodeError, RuntimeError) as error:
        problem = f"something else ({error})"
    if problem:
        raise ModelFilesError(
            f"expected a complete SentencePiece model, found {problem}; fetch the file again, or, "
            f"if it is a tiktoken file of the same name, use the model's tokenizer.json"
        )
    if model.denormalizer_spec.precompiled_charsmap:
        raise ModelFilesError(
            "expected a model that decodes piece by piece, found one with a denormalizer, under "
            "which pieces have no bytes of their own; train or export it without one"
        )
    return model


def _texts(model: Any) -> Iterator[object]:
    yield model.trainer_spec.unk_surface
    yield model.normalizer_spec.name
    for piece in model.pieces:
        yield piece.piece


def _ids_of(model: Any, *kinds: int) -> frozenset[int]:
    return frozenset(i for i, piece in enumerate(model.pieces) if piece.type in kinds)


def _spell(piece: Any, unknown: str) -> bytes:
    """The bytes that `decode` writes for a piece that is not the first.

    `▁the` gives b" the", `<0x41>` gives b"A" if it is a byte piece, `<s>` gives b"".
    """
    match piece.type:
        case _Piece.CONTROL:
            return b""
        case _Piece.BYTE:
            return bytes([int(piece.piece[3:5], 16)])
        case _Piece.UNKNOWN:
            return unknown.encode()
        case _:
            return str(piece.piece).replace(_SPACE, " ").encode()


def _describe(model: Any) -> TokenizerStructure | None:
    normalizer = model.normalizer_spec
    added = [piece.piece for piece in model.pieces if piece.type == _Piece.USER_DEFINED]
    kind = _kind(model)
    if (
        kind is None
        or model.trainer_spec.treat_whitespace_as_suffix
        or not normalizer.escape_whitespaces
        # Without this piece a space is unknown, or becomes the three bytes of U+2581.
        or all(piece.piece != _SPACE for piece in model.pieces)
        # Added tokens are looked for after spaces became U+2581: this one is never found.
        or any(" " in piece for piece in added)
    ):
        return None
    # The map alone decides how text is normalised; a name without one does nothing.
    name = normalizer.name if normalizer.name not in ("", "identity") else "user_defined"
    return TokenizerStructure(
        kind=kind,
        normalizer=name if normalizer.precompiled_charsmap else "identity",
        dummy_prefix=normalizer.add_dummy_prefix,
        keeps_whitespace=not normalizer.remove_extra_whitespaces,
        added_tokens=tuple(piece.replace(_SPACE, " ") for piece in added),
    )


def _kind(model: Any) -> Literal["bpe", "unigram"] | None:
    algorithm = model.trainer_spec.model_type
    types = {piece.type for piece in model.pieces}
    # BPE merges through unused pieces and takes them apart again afterwards.
    if algorithm == _TrainerSpec.BPE and _Piece.UNUSED not in types:
        return "bpe"
    # Unigram gives added tokens a high score, but a better path may still avoid them.
    if algorithm == _TrainerSpec.UNIGRAM and _Piece.USER_DEFINED not in types:
        return "unigram"
    return None
