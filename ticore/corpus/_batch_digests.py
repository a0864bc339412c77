"""Digests of batches: saved results belong to the rows from which they were made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b

from ._base import CorpusText, Messages, Rollout


def digest_of_texts(texts: Sequence[CorpusText]) -> bytes:
    """A digest of the texts of a batch, 32 bytes."""
    return _digest_of(piece for text in texts for piece in _pieces(text))


def digest_of_lines(lines: Sequence[bytes | None]) -> bytes:
    """A digest of lines that were not parsed, 32 bytes; None stands for one that is too long."""
    return _digest_of((b"x", b"") if line is None else (b"l", line) for line in lines)


def _digest_of(pieces: Iterable[tuple[bytes, bytes]]) -> bytes:
    parts = [part for kind, data in pieces for part in (b"%s%d\n" % (kind, len(data)), data)]
    # Joined first: each call of `update` costs more than the text in it.
    return blake2b(b"".join(parts), digest_size=32, person=b"ticore texts 1").digest()


def _pieces(text: CorpusText) -> Iterator[tuple[bytes, bytes]]:
    """What a text, or a rollout, consists of: each with its kind."""
    if isinstance(text, Rollout):
        yield b"i", text.ids.tobytes()
        if isinstance(text.reread, str):
            yield b"t", text.reread.encode("utf-8", "surrogatepass")
        elif isinstance(text.reread, Messages):
            yield b"m", json.dumps(text.reread).encode()
        elif text.reread is not None:
            yield b"r", text.reread.tobytes()
    elif isinstance(text, str):
        yield b"t", text.encode("utf-8", "surrogatepass")
    else:
        yield b"p", text.error.encode("utf-8", "surrogatepass")
