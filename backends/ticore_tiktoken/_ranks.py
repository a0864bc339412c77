"""tiktoken's file format: a line for each token, its bytes in base64 and its rank."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from binascii import Error
from collections.abc import Mapping

from ticore.backend_kit import require_dense
from ticore.errors import ModelFilesError

# Ranks have up to seven digits: each rank up to the highest takes memory. Whisper's file has a
# token of no bytes, at the rank of a special token: `= 50256`.
_LINE = re.compile(r"([A-Za-z0-9+/]+={0,2}|=) ([0-9]{1,7})\r?")
_NOTHING = "="


def parse_ranks(data: bytes) -> dict[bytes, int]:
    """Tokens and their ranks, which are their ids. No text spells a token of no bytes.

    Raises:
        ModelFilesError: `data` is not such a file, or some text would have no tokens.
    """
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        raise _malformed("a file that is not text") from None
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(lines, start=1):
        if line.strip():
            token, rank = _parse_line(line, number)
            if token in ranks:
                raise _malformed(f"on line {number} the token {token!r} a second time")
            ranks[token] = rank
    if not ranks:
        raise _malformed("an empty file")
    if len(set(ranks.values())) < len(ranks):
        raise _malformed("two tokens of the same rank")
    require_dense(max(ranks.values()), len(ranks))
    require_every_byte(ranks)
    return ranks


def require_every_byte(ranks: Mapping[bytes, int]) -> None:
    """Refuse ranks under which some text has no tokens.

    Raises:
        ModelFilesError: a byte has no token.
    """
    for byte in range(256):
        if bytes([byte]) not in ranks:
            raise ModelFilesError(
                f"expected a token for every byte, found none for 0x{byte:02X}; fetch the whole "
                f"file again"
            )


def write_ranks(ranks: Mapping[bytes, int]) -> bytes:
    """The file of these ranks, in order.

    >>> write_ranks({b"!": 0, b" the": 1}).splitlines()
    [b'IQ== 0', b'IHRoZQ== 1']
    """
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    return b"".join(
        b"%b %d\n" % (b64encode(token) or _NOTHING.encode(), rank) for token, rank in ordered
    )


def _parse_line(line: str, number: int) -> tuple[bytes, int]:
    match = _LINE.fullmatch(line)
    try:
        if match:
            token = b"" if match[1] == _NOTHING else b64decode(match[1], validate=True)
            return token, int(match[2])
    except Error:  # of the padding
        pass
    raise _malformed(f"on line {number} {line[:40]!r}")


def _malformed(found: str) -> ModelFilesError:
    return ModelFilesError(
        f"expected lines of a token in base64 and its rank, found {found}; fetch the file again, "
        f"or open a SentencePiece .model with sentencepiece:FILE, a tokenizer.json with "
        f"tokenizers:FILE"
    )
