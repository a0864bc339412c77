"""tiktoken as a Tokenizer.

A file of ranks has no special tokens; a tekken.json or an Encoding in memory may have some. In all
cases `encode` reads the texts of special tokens like any other text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import tiktoken

from ticore.backend_kit import LibraryTokenizer, reader_digest, require_dense
from ticore.backend_kit.checkpoint import MOST_OF_TOKENIZER, read_whole, within_memory
from ticore.errors import ModelFilesError, SettingsError
from ticore.interfaces import TokenizerStructure

from ._patterns import PATTERNS, split_of
from ._ranks import parse_ranks, require_every_byte, write_ranks
from ._tekken import read_tekken

# Characters of white space in a row. At twice as many, the library's regular expressions give up
# and it panics.
_LONGEST_BLANK = 500_000
_DIGEST_LABEL = b"ticore tokenizer: tiktoken\0"


class TiktokenTokenizer(LibraryTokenizer):
    """Byte-level BPE: any two neighbours that spell a token merge, the lowest rank first.

    Thread-safe.

    Args:
        ranks: bytes and id of each token, single bytes included. A token of no bytes is special.
        pattern: a name in `PATTERNS`.

    Raises:
        SettingsError: there is no such pattern.
    """

    # For fewer characters, starting threads takes longer than encoding.
    threads_pay = 32_768
    _unknown: frozenset[int] = frozenset()  # every byte has a token

    def __init__(self, ranks: Mapping[bytes, int], pattern: str) -> None:
        if pattern not in PATTERNS:
            raise SettingsError(
                f"expected a pattern that is known, found {pattern!r}; write FILE#PATTERN with "
                f"one of {', '.join(PATTERNS)}"
            )
        library = tiktoken.Encoding(
            pattern,
            pat_str=PATTERNS[pattern],
            mergeable_ranks={token: rank for token, rank in ranks.items() if token},
            special_tokens={},
        )
        self._fill(library, ranks, PATTERNS[pattern], {})

    @classmethod
    def from_encoding(cls, encoding: tiktoken.Encoding) -> TiktokenTokenizer:
        """The tokenizer of an Encoding in memory, such as one that `tiktoken.get_encoding` gives.

        Its special tokens are special here, and are written as nothing.

        Raises:
            ModelFilesError: a byte has no token, or an id is far too high.
        """
        # tiktoken has no public names for these.
        ranks, special = dict(encoding._mergeable_ranks), dict(encoding._special_tokens)
        require_every_byte(ranks)
        require_dense(max([*ranks.values(), *special.values()]), len(ranks) + len(special))
        made = cls.__new__(cls)
        made._fill(encoding, ranks, encoding._pat_str, special)
        return made

    def _fill(
        self,
        library: tiktoken.Encoding,
        ranks: Mapping[bytes, int],
        pattern: str,
        special: Mapping[str, int],
    ) -> None:
        self._library, self._pattern = library, pattern
        self._names = {i: name for name, i in special.items()}
        spelled = [b""] * (max([*ranks.values(), *special.values()]) + 1)
        for token, rank in ranks.items():
            spelled[rank] = token
        self._bytes = tuple(spelled)
        self._special = frozenset(i for i, token in enumerate(self._bytes) if not token)
        content = write_ranks(ranks) + b"\0" + pattern.encode()
        if special:
            content += b"\0" + json.dumps(special, sort_keys=True).encode()
        self._digest = hashlib.sha256(_DIGEST_LABEL + content).hexdigest()
        here, version = Path(__file__).parent, tiktoken.__version__
        self.reader_digest = reader_digest(content, here, version)

    @classmethod
    def from_file(cls, path: str | Path, pattern: str) -> TiktokenTokenizer:
        """Open a file of ranks.

        Raises:
            ModelFilesError: the file is missing, unreadable, or not a file of ranks.
            SettingsError: there is no such pattern.
        """
        with _named(path, "tiktoken's file of ranks"):
            return cls(parse_ranks(read_whole(path, MOST_OF_TOKENIZER)), pattern)

    @classmethod
    def from_tekken(cls, path: str | Path) -> TiktokenTokenizer:
        """Open a tekken.json of Mistral. Its special tokens are special here.

        Raises:
            ModelFilesError: the file is missing, unreadable, or not a tekken.json.
        """
        with _named(path, "a tekken.json"):
            return cls.from_encoding(read_tekken(read_whole(path, MOST_OF_TOKENIZER)))

    def encode_one(self, text: str) -> list[int]:
        """Ids of a text, by the library."""
        return self._library.encode_ordinary(text)

    def encode_many(self, texts: list[str]) -> list[list[int]]:
        """Ids of each text, by the library."""
        return self._library.encode_ordinary_batch(texts)

    def require_readable(self, text: str) -> None:
        """Refuse a lone surrogate, and half a million characters of white space in a row.

        Raises:
            SettingsError: the text has one of these.
        """
        super().require_readable(text)
        if len(text) < _LONGEST_BLANK:
            return
        longest = max(map(len, re.findall(r"\s+", text)), default=0)
        if longest >= _LONGEST_BLANK:
            raise SettingsError(
                f"expected text with fewer than {_LONGEST_BLANK:,} blank characters in a row, "
                f"found {longest:,}; shorten them"
            )

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(self._bytes[i] for i in self.checked(ids)).decode(errors="replace")

    def encode_with_specials(self, text: str) -> list[int]:
        self.require_readable(text)
        return self._library.encode(text, allowed_special="all", disallowed_special=())

    def decode_with_specials(self, ids: Sequence[int]) -> str:
        spelled = (self._bytes[i] or self._names.get(i, "").encode() for i in self.checked(ids))
        return b"".join(spelled).decode(errors="replace")

    def token_name(self, token: int) -> str:
        """The name of a special token, such as `<|endoftext|>`; empty for any other id."""
        (token,) = self.checked([token])
        return self._names.get(token, "")

    def describe(self) -> TokenizerStructure:
        """See LibraryTokenizer."""
        return TokenizerStructure(
            kind="bpe",
            atoms="bytes",
            pieces=np.array([bool(token) for token in self._bytes]),
            ranks=np.arange(self.vocab_size, dtype=np.int32),
            ignore_merges=True,
            pretokenizer=(split_of(self._pattern),),
        )


@contextmanager
def _named(path: str | Path, expected: str) -> Iterator[None]:
    """Errors of the block name the file."""
    try:
        with within_memory(Path(path), "tokenizer"):
            yield
    except OSError as error:
        raise ModelFilesError(
            f"{path}: expected {expected}, found none that can be read "
            f"({error.strerror}); check the path"
        ) from None
    except ModelFilesError as error:
        raise ModelFilesError(f"{path}: {error}") from None
