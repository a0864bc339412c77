"""Tokens of incomplete characters that no text is encoded to.

Such a token cannot be tried by itself, since it has no text. Two things rule one out for certain:
no valid UTF-8 contains its bytes, or the tokenizer's algorithm does not give it for its own bytes.
For byte-pair encoding, each token in the output of `encode` is what its own bytes are encoded to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from .._support.utf8 import is_complete
from ..interfaces import TokenizerStructure

Ranking = Callable[[bytes, bytes], int | None]
"""The rank of the merge of two neighbours; None if they do not merge."""

_MOST_LEFT_OVER = 3  # bytes of a character without its first one
# Of these, one completes any incomplete character: some first bytes are followed by a low byte
# only, some by a high one only.
_ENDS = [byte * count for count in range(_MOST_LEFT_OVER + 1) for byte in (b"\x80", b"\xbf")]


def never_given(
    structure: TokenizerStructure | None, tokens: Iterable[int], spelled: Sequence[bytes]
) -> set[int]:
    """Those of `tokens` that certainly no text is encoded to.

    Args:
        structure: of the tokenizer; None if it is not known.
        tokens: ordinary ids whose bytes are not whole characters.
        spelled: the bytes of each id.
    """
    tokens = list(tokens)
    found = {i for i in tokens if not _is_in_some_text(spelled[i])}
    if structure is None:
        return found
    given = {*structure.byte_ids, *structure.added_tokens.values()}
    found.update(i for i in tokens if not structure.pieces[i] and i not in given)
    if structure.kind == "bpe" and structure.atoms == "bytes":
        rank_of = _ranking(structure, spelled)
        pieces = [i for i in tokens if structure.pieces[i]]
        found.update(i for i in pieces if _merged(spelled[i], rank_of) != [spelled[i]])
    return found


def _is_in_some_text(data: bytes) -> bool:
    """Whether some valid UTF-8 contains these bytes."""
    left_over = len(data) - len(data.lstrip(bytes(range(0x80, 0xC0))))
    if left_over > _MOST_LEFT_OVER:
        return False
    return any(is_complete(data[left_over:] + end) for end in _ENDS)


def _ranking(structure: TokenizerStructure, spelled: Sequence[bytes]) -> Ranking:
    if structure.merges is not None:
        pairs = structure.merges[:, :2].tolist()
        by_parts = {(spelled[a], spelled[b]): rank for rank, (a, b) in enumerate(pairs)}
        return lambda a, b: by_parts.get((a, b))
    assert structure.ranks is not None
    ranks, pieces = structure.ranks.tolist(), structure.pieces.nonzero()[0].tolist()
    by_result = {spelled[i]: ranks[i] for i in pieces}
    return lambda a, b: by_result.get(a + b)


def _merged(data: bytes, rank_of: Ranking) -> list[bytes]:
    """What byte-pair encoding makes of some bytes: the best merge first, of equal ones the left."""
    parts = [bytes([byte]) for byte in data]
    while True:
        found = [(rank_of(a, b), at) for at, (a, b) in enumerate(pairwise(parts))]
        known = [(rank, at) for rank, at in found if rank is not None]
        if not known:
            return parts
        _, at = min(known)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
