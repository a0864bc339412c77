"""The texts that compete in a segmentation, and the pieces that a list may hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, pairwise
from math import inf

import numpy as np
import numpy.typing as npt

from ....interfaces import TokenizerStructure
from ..._tokenizer_rules.character_splits import require_in_sets, splits_between
from .reading import Reading
from .trie import build_trie

_UNSPELLED = "\U0010ffff"  # never a character, and of no script
Arrays = Mapping[str, npt.NDArray[np.generic]]


def build_piece_tables(
    structure: TokenizerStructure,
    spelled: Sequence[bytes],
    special_ids: frozenset[int],
    reading: Reading,
) -> Arrays:
    """The fields of `Trie`; and of the pieces that a list may hold, their `ids` and `nodes`."""
    assert structure.scores is not None
    are_apart, dead = splits_between(structure.pretokenizer), (*structure.added_tokens,)
    ids = np.flatnonzero(structure.pieces)
    texts = [spelled[i].decode() for i in ids.tolist()]
    # Bytes spell every character, and then the sum of scores would begin again at other places.
    require_in_sets(structure, chain(*texts, _UNSPELLED if structure.byte_ids else ""))
    scores = dict(zip(texts, structure.scores[ids].tolist(), strict=True))
    competing = {**scores, **structure.unwritten_pieces, **dict.fromkeys(dead, inf)}
    if structure.pretokenizer:  # a piece that is split is never found
        competing = {
            text: score
            for text, score in competing.items()
            if not any(are_apart(*pair) for pair in pairwise(text))
        }
    trie, found = build_trie(competing)
    nodes = dict(zip(competing, found.tolist(), strict=True))
    kept = reading.all_kept(texts)
    for text, good in zip(texts, kept, strict=True):
        if not good:
            reading.require_settled(text)
    held = [
        (i, nodes[text])
        for i, text, good in zip(ids.tolist(), texts, kept, strict=True)
        if good and i not in special_ids and text in nodes
    ]
    return {
        "parents": trie.parents,
        "codes": trie.codes,
        "scores": trie.scores,
        "ids": np.array([i for i, _ in held], dtype=np.int64),
        "nodes": np.array([node for _, node in held], dtype=np.int32),
    }
