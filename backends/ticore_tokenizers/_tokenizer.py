"""One tokenizer.json as a Tokenizer.

As in the library, an unknown token is spelled by its name unless it is marked special.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from ticore.backend_kit import (
    LibraryTokenizer,
    NoStructure,
    is_of_library,
    require_dense,
    tokenizer_failure,
)
from ticore.backend_kit.checkpoint import MOST_OF_TOKENIZER, read_whole, within_memory
from ticore.errors import ModelFilesError

from ._soundness import require_sound
from ._spelling import letters_of_texts, require_no_suffix, spelling
from ._structure import describe
from ._word_piece import is_word_piece, keep_spaces, losses, word_spelling

# Every tokenizer must read these: no text, ASCII, spaces, and characters that may be unknown.
_PROBES = (
    "",
    "The fox, 12!",
    "  a\n\n b ",
    "naïve e\u0301 Ж 日本\u2581 \U0001f600",
    "\x00\t\ufffd",
)
_DIGEST_LABEL = b"ticore tokenizer: tokenizers\0"


class HuggingFaceTokenizer(LibraryTokenizer):
    """A tokenizer of the library `tokenizers`, with truncation and padding off. Thread-safe.

    Args:
        tokenizer: a `tokenizers.Tokenizer`.
        copy: whether to turn truncation and padding off in a copy; else in `tokenizer` itself.

    Raises:
        ModelFilesError: it encodes at random (dropout); it fails at some texts; two tokens share an
            id; an id is far too high; or its decoder does not write token by token.
    """

    def __init__(self, tokenizer: Tokenizer, *, copy: bool = True) -> None:
        vocabulary = tokenizer.get_vocab()
        # Before `to_str`, whose time grows with the highest id.
        size = max(vocabulary.values(), default=-1) + 1
        require_dense(size - 1, len(vocabulary))
        self._library = _parse(tokenizer.to_str()) if copy else tokenizer
        self._library.no_truncation()
        self._library.no_padding()
        text = self._library.to_str()
        state = json.loads(text)
        is_words = is_word_piece(state)
        if is_words:
            keep_spaces(self._library, state)
        self._losses = losses(state) if is_words else ""
        if state["model"].get("dropout"):
            raise ModelFilesError(
                f"expected a tokenizer that always encodes a text alike, found BPE dropout "
                f"{state['model']['dropout']}; set model.dropout to null"
            )
        named = len(state["model"]["vocab"])
        if named < tokenizer.get_vocab_size(with_added_tokens=False):
            # After `to_str` and `from_str` the library has only one of them, a random one.
            raise ModelFilesError(
                "expected tokens with an id each, found two that share one; correct model.vocab"
            )
        self._bytes, self._special = _read_tokens(self._library, state, size)
        self._unknown = _unknown_ids(self._library, state)
        self._digest = hashlib.sha256(_DIGEST_LABEL + text.encode()).hexdigest()
        # Here, because parsing the JSON again would take longer than this.
        try:
            self._described = describe(self._library, state, len(self._bytes))
        except NoStructure as reason:
            self._described = str(reason)
        # One by one: a batch starts threads, and a process with threads cannot fork safely.
        for probe in _PROBES:
            self.decode(self.encode(probe))

    @classmethod
    def from_file(cls, path: str | Path) -> HuggingFaceTokenizer:
        """Open a tokenizer.json, or the one in a folder.

        Raises:
            ModelFilesError: the file is missing, unreadable, or holds a tokenizer that cannot be
                adapted exactly.
        """
        file = Path(path)
        if file.is_dir():
            file /= "tokenizer.json"
        try:
            with within_memory(file, "tokenizer"):
                text = read_whole(file, MOST_OF_TOKENIZER).decode()
                require_sound(text)
                return cls(_parse(text), copy=False)
        except OSError as error:
            raise ModelFilesError(
                f"{file}: expected a tokenizer.json, found none that can be read "
                f"({error.strerror}); check the path"
            ) from None
        except UnicodeDecodeError:
            raise ModelFilesError(
                f"{file}: expected a tokenizer.json, found a file that is not UTF-8 text; "
                f"a .model file is opened with sentencepiece:FILE"
            ) from None
        except ModelFilesError as error:
            raise ModelFilesError(f"{file}: {error}") from None

    def encode_one(self, text: str) -> list[int]:
        """Ids of a text, by the library."""
        return self._library.encode(text, add_special_tokens=False).ids

    def encode_many(self, texts: list[str]) -> list[list[int]]:
        """Ids of each text, by the library."""
        batch = self._library.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in batch]

    def decode(self, ids: Sequence[int]) -> str:
        numbers = [int(i) for i in ids]
        try:
            return self._library.decode(numbers, skip_special_tokens=True)
        except BaseException as error:
            raise tokenizer_failure(error, f"a list of {len(numbers):,} ids") from None

    @property
    def losses(self) -> str:
        """What a text loses when it is read and written again; empty for most tokenizers."""
        return self._losses

    def token_name(self, token: int) -> str:
        return self._library.id_to_token(token) or ""


def _parse(text: str) -> Tokenizer:
    try:
        return Tokenizer.from_str(text)
    except BaseException as error:
        if not is_of_library(error):
            raise
        raise ModelFilesError(
            f"expected a complete tokenizer.json, found something else ({error}); "
            f"fetch the file again, or export it with a newer version of tokenizers"
        ) from None


def _read_tokens(
    library: Tokenizer, state: dict[str, Any], size: int
) -> tuple[list[bytes], frozenset[int]]:
    """The bytes of every id below `size`, and the special ids."""
    model, decoder = state["model"], state["decoder"]
    spell = word_spelling(decoder) if is_word_piece(state) else spelling(decoder)
    require_no_suffix(model)
    names = [library.id_to_token(i) for i in range(size)]
    # `decode` skips a special token by its name, not by its id.
    silent = {t.content for t in library.get_added_tokens_decoder().values() if t.special}
    spelled = [b"" if name is None or name in silent else spell(name) for name in names]
    unwritten = {None, model.get("unk_token"), *silent}
    special = {i for i, name in enumerate(names) if name in unwritten or i == model.get("unk_id")}
    if is_word_piece(state):  # a prefix alone
        special |= {i for i, data in enumerate(spelled) if not data}
    return spelled, frozenset(special)


def _unknown_ids(library: Tokenizer, state: dict[str, Any]) -> frozenset[int]:
    model, name = state["model"], state["model"].get("unk_token")
    vocabulary = model["vocab"]
    names = set(vocabulary if isinstance(vocabulary, dict) else (name for name, _ in vocabulary))
    # Some byte-level files name their end of text as the unknown token, but never give it.
    if state["decoder"]["type"] == "ByteLevel" and letters_of_texts() <= names:
        return frozenset()
    found = (model.get("unk_id"), None if name is None else library.token_to_id(name))
    return frozenset(token for token in found if token is not None)
