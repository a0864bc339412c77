"""Characters that occur in pieces only, and are no pieces.

Where any two neighbours that spell a piece may merge, merging starts from all characters of a text,
known or not. A character that is no piece is *loose*: it merges with its neighbours as any other,
and becomes bytes or an unknown id only if it is still alone at the end. Chinese-LLaMA-2 has three.
Of them U+6942 occurs in one piece, U+5C71 U+6942, and comes as three bytes anywhere else.

So each loose character gets a number after the real ids. With these numbers as further atoms the
rules of BPE are as always. Only where tokens are compared with what `encode` gives does a loose
character stand for its bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ....interfaces import TokenizerStructure


def loose_characters(structure: TokenizerStructure, spelled: Sequence[bytes]) -> tuple[str, ...]:
    """The loose characters of a structure, in order.

    A list of rules names ids on both sides, so there are none where `merges` is given. A character
    that is an added token is found before anything merges.

    Args:
        structure: of kind "bpe".
        spelled: the bytes of every id.
    """
    if structure.atoms != "characters" or structure.merges is not None:
        return ()
    texts = {spelled[i].decode() for i in np.flatnonzero(structure.pieces).tolist()}
    return tuple(sorted(set().union(*texts) - texts - structure.added_tokens.keys()))


def with_atoms(
    structure: TokenizerStructure, spelled: Sequence[bytes], characters: Sequence[str]
) -> tuple[TokenizerStructure, Sequence[bytes]]:
    """The structure and the bytes of every id, with characters as further pieces.

    Their numbers follow the ids, in the order of `characters`.
    """
    if not characters:
        return structure, spelled
    assert structure.ranks is not None  # see `loose_characters`
    more = len(characters)
    longer = replace(
        structure,
        pieces=np.append(structure.pieces, np.ones(more, dtype=bool)),
        ranks=np.append(structure.ranks, np.zeros(more, dtype=structure.ranks.dtype)),
    )
    return longer, [*spelled, *(character.encode() for character in characters)]
