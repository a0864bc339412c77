"""One SentencePiece model behind the Tokenizer interface.

SentencePiece writes a space as U+2581, so a U+2581 in a text comes back as a space. It spells an
unknown or unused piece like any other (` ⁇ ` for an unknown one), and so does this adapter: only
control ids are silent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import sentencepiece

from ticore.checkpoint import MOST_OF_TOKENIZER, read_whole, within_memory
from ticore.errors import ModelFilesError
from ticore.interfaces import TokenizerStructure
from ticore.limits import tokenizer_failure
from ticore.unicode import require_unicode

from .proto import SPACE, Piece, byte_of, parse
from .structure import describe

# Characters; for fewer, the library takes longer to start its threads than to encode.
_THREADS_PAY = 32_768
_DIGEST_LABEL = b"ticore tokenizer: sentencepiece\0"


class SentencePieceTokenizer:
    """A tokenizer from a serialized SentencePiece model.

    Args:
        proto: what a `.model` file holds.

    Raises:
        ModelFilesError: `proto` is no complete model, or its decoder rewrites text.
    """

    def __init__(self, proto: bytes) -> None:
        model = parse(proto)
        self._library = sentencepiece.SentencePieceProcessor(model_proto=proto)
        self._control = _ids_of(model, Piece.CONTROL)
        self._unknown = _ids_of(model, Piece.UNKNOWN)
        self._special = self._control | self._unknown | _ids_of(model, Piece.UNUSED)
        self._bytes = [_spell(piece, model.trainer_spec.unk_surface) for piece in model.pieces]
        self._digest = hashlib.sha256(_DIGEST_LABEL + proto).hexdigest()

    @classmethod
    def from_file(cls, path: str | Path) -> SentencePieceTokenizer:
        """Open a `.model` file.

        Raises:
            ModelFilesError: the file is missing, unreadable, or no SentencePiece model.
        """
        try:
            with within_memory(Path(path), "tokenizer"):
                return cls(read_whole(path, MOST_OF_TOKENIZER))
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

    @property
    def unknown_ids(self) -> frozenset[int]:
        """The id of ` ⁇ `; with byte fallback `encode` does not give it."""
        return self._unknown

    def encode(self, text: str) -> list[int]:
        """Ids of `text`.

        Raises:
            SettingsError: it holds a lone surrogate.
            ModelFilesError: the library fails at it.
        """
        require_unicode(text)
        try:
            ids: list[int] = self._library.encode(text)
        except BaseException as error:
            raise tokenizer_failure(error, f"a text of {len(text):,} characters") from None
        return ids

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`[encode(t) for t in texts]`, on several threads where there is much to do."""
        if sum(map(len, texts)) < _THREADS_PAY:
            return [self.encode(text) for text in texts]
        for text in texts:
            require_unicode(text)
        try:
            batch: list[list[int]] = self._library.encode(list(texts))
        except BaseException as error:
            raise tokenizer_failure(error, f"one of {len(texts):,} texts") from None
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

    def token_name(self, token: int) -> str:
        name: str = self._library.id_to_piece(token)
        return name

    def structure(self) -> TokenizerStructure | None:
        return self._structure

    @cached_property
    def _structure(self) -> TokenizerStructure | None:
        return describe(self._library.serialized_model_proto())

    def digest(self) -> str:
        return self._digest


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
