"""One SentencePiece model as a Tokenizer.

SentencePiece writes a space as U+2581, so a U+2581 in a text comes back as a space. It spells an
unknown or unused piece like any other (` ⁇ ` for an unknown one), and so does this adapter. Only
control ids add nothing to a text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sentencepiece

from ticore.backend_kit import LibraryTokenizer, reader_digest
from ticore.backend_kit.checkpoint import (
    MOST_OF_TOKENIZER,
    is_gguf,
    read_gguf_vocabulary,
    read_whole,
    within_memory,
)
from ticore.errors import ModelFilesError
from ticore.interfaces import TokenizerStructure

from ._gguf import proto_of
from ._proto import SPACE, Piece, byte_of, parse
from ._structure import describe

_DIGEST_LABEL = b"ticore tokenizer: sentencepiece\0"


class SentencePieceTokenizer(LibraryTokenizer):
    """A tokenizer from a serialized SentencePiece model. Thread-safe.

    Control, unknown and unused ids are special. With byte fallback the unknown id never occurs.

    Args:
        proto: the content of a `.model` file.

    Raises:
        ModelFilesError: `proto` is not a complete model, or its decoder rewrites text.
    """

    # For fewer characters, starting threads takes longer than encoding.
    threads_pay = 32_768

    def __init__(self, proto: bytes) -> None:
        model = parse(proto)
        self._library = sentencepiece.SentencePieceProcessor(model_proto=proto)
        self._control = _ids_of(model, Piece.CONTROL)
        self._unknown = _ids_of(model, Piece.UNKNOWN)
        self._special = self._control | self._unknown | _ids_of(model, Piece.UNUSED)
        surface = model.trainer_spec.unk_surface
        self._bytes = tuple(_spell(piece, surface) for piece in model.pieces)
        # As the library writes it: `proto` may have its fields in another order.
        written = self._library.serialized_model_proto()
        self._digest = hashlib.sha256(_DIGEST_LABEL + written).hexdigest()
        here, version = Path(__file__).parent, sentencepiece.__version__
        self.reader_digest = reader_digest(written, here, version)

    def __reduce__(self) -> tuple[type[SentencePieceTokenizer], tuple[bytes]]:
        # The structure may hold a function of the library, which cannot be pickled.
        return SentencePieceTokenizer, (self._library.serialized_model_proto(),)

    @classmethod
    def from_file(cls, path: str | Path) -> SentencePieceTokenizer:
        """Open a `.model` file, or the tokenizer of SentencePiece in a GGUF file.

        Raises:
            ModelFilesError: the file is missing, unreadable, or not a SentencePiece model.
        """
        file = Path(path)
        vocabulary = read_gguf_vocabulary(file) if is_gguf(file) else None
        try:
            with within_memory(file, "tokenizer"):
                if vocabulary is not None:
                    return cls(proto_of(vocabulary))
                return cls(read_whole(file, MOST_OF_TOKENIZER))
        except OSError as error:
            raise ModelFilesError(
                f"{path}: expected a SentencePiece .model file, found none that can be read "
                f"({error.strerror}); check the path"
            ) from None
        except ModelFilesError as error:
            raise ModelFilesError(f"{path}: {error}") from None

    def encode_one(self, text: str) -> list[int]:
        """Ids of a text, by the library."""
        ids: list[int] = self._library.encode(text)
        return ids

    def encode_many(self, texts: list[str]) -> list[list[int]]:
        """Ids of each text, by the library."""
        batch: list[list[int]] = self._library.encode(texts)
        return batch

    def decode(self, ids: Sequence[int]) -> str:
        """Text of `ids`, without the leading space if the model adds or removes one.

        Only a space that a piece spells is removed. The byte piece `<0x20>` keeps its space.
        """
        # The library ends a character spelled in bytes at a control id, though the id adds nothing.
        text: str = self._library.decode([i for i in self.checked(ids) if i not in self._control])
        return text

    def token_name(self, token: int) -> str:
        (token,) = self.checked([token])
        name: str = self._library.id_to_piece(token)
        return name

    def describe(self) -> TokenizerStructure:
        """See LibraryTokenizer."""
        return describe(self._library.serialized_model_proto())


def _ids_of(model: Any, *kinds: int) -> frozenset[int]:
    return frozenset(i for i, piece in enumerate(model.pieces) if piece.type in kinds)


def _spell(piece: Any, unknown: str) -> bytes:
    """The bytes that `decode` writes for a piece that is not the first.

    `▁the` gives b" the", `<0x41>` gives b"A" if it is a byte piece, `<s>` gives b"".
    """
    match piece.type:
        case Piece.CONTROL:
            return b""
        case Piece.BYTE:
            return bytes([byte_of(piece)])
        case Piece.UNKNOWN:
            return unknown.encode()
        case _:
            return str(piece.piece).replace(SPACE, " ").encode()
