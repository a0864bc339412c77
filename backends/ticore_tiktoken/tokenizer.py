"""tiktoken behind the Tokenizer interface.

A file of ranks has no special tokens, so here are none either: their texts are read like any other.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import tiktoken

from ticore.checkpoint import MOST_OF_TOKENIZER, read_whole, within_memory
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import TokenizerStructure
from ticore.limits import tokenizer_failure
from ticore.unicode import require_unicode

from .patterns import PATTERNS
from .ranks import parse_ranks, write_ranks

# Characters; for fewer, threads take longer to start than texts to encode.
_THREADS_PAY = 32_768
# White space in a row. At twice as much the library's regular expressions give up, and it panics.
_LONGEST_BLANK = 500_000
_DIGEST_LABEL = b"ticore tokenizer: tiktoken\0"


class TiktokenTokenizer:
    """Byte-level BPE in which any two neighbours merge that spell a token, least rank first.

    Args:
        ranks: tokens and their ids, among them each single byte. One of no bytes is special.
        pattern: a name in `PATTERNS`.

    Raises:
        SettingsError: there is no such pattern.
    """

    def __init__(self, ranks: Mapping[bytes, int], pattern: str) -> None:
        if pattern not in PATTERNS:
            raise SettingsError(
                f"expected a pattern that is known, found {pattern!r}; write FILE#PATTERN with "
                f"one of {', '.join(PATTERNS)}"
            )
        self._pattern = PATTERNS[pattern]
        self._library = tiktoken.Encoding(
            pattern,
            pat_str=self._pattern,
            mergeable_ranks={token: rank for token, rank in ranks.items() if token},
            special_tokens={},
        )
        self._bytes = [b""] * (max(ranks.values()) + 1)
        for token, rank in ranks.items():
            self._bytes[rank] = token
        self._special = frozenset(i for i, token in enumerate(self._bytes) if not token)
        content = write_ranks(ranks) + b"\0" + self._pattern.encode()
        self._digest = hashlib.sha256(_DIGEST_LABEL + content).hexdigest()

    @classmethod
    def from_file(cls, path: str | Path, pattern: str) -> TiktokenTokenizer:
        """Open a file of ranks.

        Raises:
            ModelFilesError: the file is missing, unreadable, or no file of ranks.
            SettingsError: there is no such pattern.
        """
        try:
            with within_memory(Path(path), "tokenizer"):
                return cls(parse_ranks(read_whole(path, MOST_OF_TOKENIZER)), pattern)
        except OSError as error:
            raise ModelFilesError(
                f"{path}: expected tiktoken's file of ranks, found none that can be read "
                f"({error.strerror}); check the path"
            ) from None
        except ModelFilesError as error:
            raise ModelFilesError(f"{path}: {error}") from None

    @property
    def vocab_size(self) -> int:
        """Highest rank + 1. Ids that are no rank are special and spell nothing."""
        return len(self._bytes)

    @property
    def special_ids(self) -> frozenset[int]:
        return self._special

    def encode(self, text: str) -> list[int]:
        """Ids of `text`.

        Raises:
            SettingsError: it holds a lone surrogate, or half a million blank characters in a row.
            ModelFilesError: the library fails at it.
        """
        _require_readable(text)
        try:
            return self._library.encode_ordinary(text)
        except BaseException as error:
            raise tokenizer_failure(error, f"a text of {len(text):,} characters") from None

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """`[encode(t) for t in texts]`, on several threads where there is much to do."""
        if sum(map(len, texts)) < _THREADS_PAY:
            return [self.encode(text) for text in texts]
        for text in texts:
            _require_readable(text)
        try:
            return self._library.encode_ordinary_batch(list(texts))
        except BaseException as error:
            raise tokenizer_failure(error, f"one of {len(texts):,} texts") from None

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(self._bytes[i] for i in ids).decode(errors="replace")

    def token_bytes(self, token: int) -> bytes:
        return self._bytes[token]

    def structure(self) -> TokenizerStructure:
        return self._structure

    @cached_property
    def _structure(self) -> TokenizerStructure:
        return TokenizerStructure(
            kind="bpe",
            atoms="bytes",
            pieces=np.array([bool(token) for token in self._bytes]),
            ranks=np.arange(self.vocab_size, dtype=np.int32),
            ignore_merges=True,
            pretokenizer=(self._pattern,),
        )

    def digest(self) -> str:
        return self._digest


def _require_readable(text: str) -> None:
    """Raise SettingsError for what the library would change without a word, or fail at."""
    require_unicode(text)
    if len(text) < _LONGEST_BLANK:
        return
    longest = max(map(len, re.findall(r"\s+", text)), default=0)
    if longest >= _LONGEST_BLANK:
        raise SettingsError(
            f"expected text with fewer than {_LONGEST_BLANK:,} blank characters in a row, found "
            f"{longest:,}; shorten them"
        )
