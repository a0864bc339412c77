"""One tokenizer.json as a Tokenizer.

As in the library, an unknown token is spelled by its name unless it is marked special.
"""

from __future__ import annotations

import hashlib
import os.path
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

import tokenizers
from tokenizers import Tokenizer

from ticore.backend_kit import (
    LibraryTokenizer,
    NoStructure,
    is_of_library,
    reader_digest,
    require_dense,
    tokenizer_failure,
)
from ticore.backend_kit.checkpoint import (
    MOST_OF_TOKENIZER,
    is_gguf,
    read_gguf_vocabulary,
    read_whole,
    within_memory,
)
from ticore.errors import ModelFilesError
from ticore.interfaces import TokenizerStructure

from . import _opened_before
from ._gguf import json_of
from ._json import parse, read
from ._memory import return_freed_memory
from ._pretokenizers import without_leading_space
from ._soundness import require_sound
from ._spelling import letters_of_texts, require_no_suffix, spelling
from ._structure import describe
from ._without_single_words import WithoutSingleWords
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
# Held while a library is built that was not needed before. One for all, so that tokenizers can be
# pickled.
_BUILDING = Lock()


class HuggingFaceTokenizer(LibraryTokenizer):
    """A tokenizer of the library `tokenizers`, with truncation and padding off. Thread-safe.

    Where a large file was opened before, the library's part is built when a text is first read or
    written; see `_opened_before`.

    Args:
        tokenizer: a `tokenizers.Tokenizer`.
        copy: whether to turn truncation and padding off in a copy; else in `tokenizer` itself.

    Raises:
        ModelFilesError: it encodes at random (dropout); it fails at some texts; two tokens share an
            id; an id is far too high; or its decoder does not write token by token.
    """

    _source: bytes = b""

    def __init__(self, tokenizer: Tokenizer, *, copy: bool = True) -> None:
        self._library = _whole_texts(_copy(tokenizer) if copy else tokenizer)
        content = _content(self._library)
        state = parse(content)
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
        self._bytes, self._special = _read_tokens(self._library, state)
        self._unknown = _unknown_ids(self._library, state)
        digest = hashlib.sha256(_DIGEST_LABEL)
        digest.update(content)
        self._digest = digest.hexdigest()
        self.reader_digest = _reader_digest(self._digest.encode())
        # Here, because parsing the JSON again would take longer than this.
        try:
            self._described = describe(self._library, state, len(self._bytes))
        except NoStructure as reason:
            self._described = str(reason)
        length = len(content)
        del content, state
        return_freed_memory(length)
        # One by one: a batch starts threads, and a process with threads cannot fork safely.
        for probe in _PROBES:
            self.decode(self.encode(probe))

    @classmethod
    def from_file(cls, path: str | Path) -> HuggingFaceTokenizer:
        """Open a tokenizer.json, the one in a folder, or the byte-level BPE of a GGUF file.

        Raises:
            ModelFilesError: the file is missing, unreadable, or holds a tokenizer that cannot be
                adapted exactly.
        """
        file = Path(path)
        if os.path.isdir(file):  # Path.is_dir raises where a name is too long
            file /= "tokenizer.json"
        vocabulary = read_gguf_vocabulary(file) if is_gguf(file) else None
        try:
            with within_memory(file, "tokenizer"):
                if vocabulary is not None:
                    return cls._from_json(json_of(vocabulary))
                return cls._from_json(read_whole(file, MOST_OF_TOKENIZER))
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

    @classmethod
    def _from_json(cls, data: bytes) -> HuggingFaceTokenizer:
        """The tokenizer of a tokenizer.json; its library is built later if it was built before."""
        reader = _reader_digest(data)
        is_stored = bool(reader) and _opened_before.takes_long_to_open(data)
        found = _opened_before.find(reader) if is_stored else None
        if found is not None:
            opened = cls.__new__(cls)
            opened._bytes, opened._special = found.spelled, found.special
            opened._unknown, opened._digest = found.unknown, found.digest
            opened._described, opened._losses = found.structure, ""
            opened._source = found.source
        else:
            data = _sound(data)
            library = _open(data)
            source = _opened_before.compressed(data) if is_stored else b""
            del data  # What follows needs the memory.
            opened = cls(library, copy=False)
            if is_stored:
                opened._keep(reader, source)
        opened.reader_digest = reader
        return opened

    def _keep(self, reader: str, source: bytes) -> None:
        """Store what `_from_json` needs the next time, if it has a structure."""
        if self._losses or not isinstance(self._described, TokenizerStructure):
            return
        _opened_before.keep(
            reader,
            _opened_before.Opened(
                source,
                self.spelled,
                self._special,
                self._unknown,
                self._digest,
                self._described,
            ),
        )

    @cached_property
    def _library(self) -> Tokenizer:
        """The library's tokenizer, built when it is first needed. Threads build it once."""
        with _BUILDING:
            built: Tokenizer | None = vars(self).get("_library")
            if built is None:
                built = _whole_texts(_open(_opened_before.decompressed(self._source)))
                self._library, self._source = built, b""
            return built

    def encode_one(self, text: str) -> list[int]:
        """Ids of a text, by the library."""
        return self._library.encode(text, add_special_tokens=False).ids

    def encode_many(self, texts: list[str]) -> list[list[int]]:
        """Ids of each text, by the library."""
        batch = self._library.encode_batch_fast(texts, add_special_tokens=False)
        return [encoding.ids for encoding in batch]

    def encode_with_specials(self, text: str) -> list[int]:
        """The same as `encode`, which finds special tokens in a text."""
        return self.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        return self._decode(ids, skip_special_tokens=True)

    def decode_with_specials(self, ids: Sequence[int]) -> str:
        return self._decode(ids, skip_special_tokens=False)

    def _decode(self, ids: Sequence[int], *, skip_special_tokens: bool) -> str:
        numbers = self.checked(ids)
        try:
            return self._library.decode(numbers, skip_special_tokens=skip_special_tokens)
        except BaseException as error:
            raise tokenizer_failure(error, f"a list of {len(numbers):,} ids") from None

    def without_leading_space(self) -> HuggingFaceTokenizer:
        """The same tokenizer, but it puts no space before a text. Made once."""
        return self._without_leading_space

    @cached_property
    def _without_leading_space(self) -> HuggingFaceTokenizer:
        copied = _copy(self._library)
        copied.pre_tokenizer = without_leading_space(copied.pre_tokenizer)
        return HuggingFaceTokenizer(copied, copy=False)

    def without_single_words(self) -> WithoutSingleWords:
        """The same tokenizer, but it never finds added tokens with single_word. Made once."""
        return self._without_single_words

    @cached_property
    def _without_single_words(self) -> WithoutSingleWords:
        return WithoutSingleWords(self, self._library)

    @property
    def losses(self) -> str:
        """What a text loses when it is read and written again; empty for most tokenizers."""
        return self._losses

    def token_name(self, token: int) -> str:
        (token,) = self.checked([token])
        return self._library.id_to_token(token) or ""


def _reader_digest(data: bytes) -> str:
    return reader_digest(data, Path(__file__).parent, tokenizers.__version__)


def _content(library: Tokenizer) -> bytes:
    """What `to_str` gives, as bytes. As a str it may take four times as much memory."""
    content: bytes = library.__getstate__()
    return_freed_memory(len(content))
    return content


def _copy(tokenizer: Tokenizer) -> Tokenizer:
    vocabulary = tokenizer.get_vocab()
    # First, because the time to write a tokenizer grows with its highest id.
    require_dense(max(vocabulary.values(), default=-1), len(vocabulary))
    return _open(read(_content(tokenizer))[1])


def _whole_texts(library: Tokenizer) -> Tokenizer:
    """The same, which now reads the whole of each text."""
    library.no_truncation()
    library.no_padding()
    return library


def _sound(data: bytes) -> bytes:
    """The file as the library reads it.

    Raises UnicodeDecodeError where it is not UTF-8, ModelFilesError where it is not sound.
    """
    try:
        state, data = read(data)
    except UnicodeDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelFilesError(
            f"expected a complete tokenizer.json, found something else ({error}); "
            f"fetch the file again"
        ) from None
    require_sound(state)
    return data


def _open(data: bytes) -> Tokenizer:
    try:
        opened: Tokenizer = Tokenizer.from_buffer(data)
    except BaseException as error:
        if not is_of_library(error):
            raise
        raise ModelFilesError(
            f"expected a complete tokenizer.json, found something else ({error}); "
            f"fetch the file again, or export it with a newer version of tokenizers"
        ) from None
    return_freed_memory(len(data))
    return opened


def _read_tokens(
    library: Tokenizer, state: dict[str, Any]
) -> tuple[tuple[bytes, ...], frozenset[int]]:
    """The bytes of every id up to the highest, and the special ids."""
    model, decoder, is_words = state["model"], state["decoder"], is_word_piece(state)
    spell = word_spelling(decoder) if is_words else spelling(decoder)
    require_no_suffix(model)
    size = 1 + max(_ids(state), default=-1)
    # `decode` skips a special token by its name, not by its id.
    silent = {t.content for t in library.get_added_tokens_decoder().values() if t.special}
    unwritten = {None, model.get("unk_token"), *silent}
    spelled, special = [], set()
    for i in range(size):
        name = library.id_to_token(i)
        spelled.append(b"" if name is None or name in silent else spell(name))
        if name in unwritten or i == model.get("unk_id") or not spelled[-1]:
            special.add(i)
    return tuple(spelled), frozenset(special)


def _ids(state: dict[str, Any]) -> Iterator[int]:
    """The id of each token, and of each added token."""
    vocabulary = state["model"]["vocab"]
    yield from vocabulary.values() if isinstance(vocabulary, dict) else range(len(vocabulary))
    yield from (token["id"] for token in state["added_tokens"])


def _unknown_ids(library: Tokenizer, state: dict[str, Any]) -> frozenset[int]:
    model, name = state["model"], state["model"].get("unk_token")
    vocabulary = model["vocab"]
    names = vocabulary if isinstance(vocabulary, dict) else {name for name, _ in vocabulary}
    # Some byte-level files name their end of text as the unknown token, but never give it.
    if state["decoder"]["type"] == "ByteLevel" and letters_of_texts() <= set(names):
        return frozenset()
    found = (model.get("unk_id"), None if name is None else library.token_to_id(name))
    return frozenset(token for token in found if token is not None)
