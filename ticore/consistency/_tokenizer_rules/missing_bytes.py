"""Bytes that no piece of a byte-level tokenizer spells: what they mean for consistency.

`encode` drops such a byte, or gives an unknown id for it. It may seem that this spoils every table:
where a byte is dropped, its neighbours merge across the gap. But a list of tokens in whose text a
byte is lost is never consistent, and no other list notices.

*Proof.* Let H be a list whose tokens `encode` gives, and M the missing bytes. A piece that holds a
byte of M is given only as a whole part of a text (`ignore_merges`), and an added token only where
its text stands. So every byte of M in decode(H) that is not dropped is one of such a token, and
encode(decode(H)) has as many bytes of M as decode(H), less those dropped. Were it equal to H, it
would have as many as H. Hence nothing is dropped, if decode(H) has no more bytes of M than H.

That holds if H is valid UTF-8: then the two are the same bytes. If it is not, decode writes U+FFFD
for some of H, whose three bytes

- are all pieces: then decode(H) has no more bytes of M than H, nothing is dropped, and encode gives
  the bytes of decode(H), which are not those of H;
- or are all missing: then, without `ignore_merges`, no ordinary token of H has a byte of M. So
  encode drops each U+FFFD and keeps the rest, which is shorter than H.

With some of the three bytes, the proof fails, and so does the claim. If EF and BF are pieces and BD
is not, the tokens EF, BF are decoded as U+FFFD, and this is read as EF, BF.

A normalizer may insert bytes that are dropped again. Then a text that is changed may come back. So
it is not known what a normalizer does to such a tokenizer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._support.utf8 import NEVER_IN_TEXTS
from ...interfaces import TokenizerStructure
from .._modes import AFTER_SPACE, CONTINUATIONS, Mode
from .._unsupported import Unsupported

_REPLACEMENT = frozenset("\N{REPLACEMENT CHARACTER}".encode())
_FOLLOWING = frozenset("".join((*CONTINUATIONS, AFTER_SPACE)).encode())


def require_harmless(structure: TokenizerStructure, spelled: Sequence[bytes], mode: Mode) -> None:
    """Refuse a byte-level structure that lacks bytes which the proof above needs.

    Args:
        structure: with bytes as atoms.
        spelled: the bytes of every id.
        mode: in which lists are verified.

    Raises:
        Unsupported: for such a structure.
    """
    pieces = np.flatnonzero(structure.pieces).tolist()
    missing = frozenset(range(256)) - {spelled[i][0] for i in pieces if len(spelled[i]) == 1}
    missing -= NEVER_IN_TEXTS
    if not missing:
        return
    if structure.normalizer != "identity":
        raise Unsupported(
            f"no token spells the byte {_name(missing)}, and its normalizer may insert it"
        )
    if missing & _REPLACEMENT and (structure.ignore_merges or not missing >= _REPLACEMENT):
        raise Unsupported(
            f"no token spells the byte {_name(missing & _REPLACEMENT)}, a part of U+FFFD, which is "
            f"written for bytes that are no text"
        )
    if mode == "viable" and missing & _FOLLOWING:
        raise Unsupported(
            f"no token spells the byte {_name(missing & _FOLLOWING)}, with which a text is "
            f"continued in mode viable"
        )


def _name(found: frozenset[int]) -> str:
    return f"0x{min(found):02X}"
