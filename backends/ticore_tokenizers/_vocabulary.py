"""The vocabulary of a BPE model: the ids that it gives, and its merges."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ticore.backend_kit import NoStructure

from ._byte_fallback import byte_fallback_ids, require_ordinary_bytes
from ._json import Merges
from ._normalizers import NormalizerRules, TokenizerJson


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The fields of a TokenizerStructure with these names."""

    pieces: npt.NDArray[np.bool_]
    merges: npt.NDArray[np.int32]
    byte_ids: tuple[int, ...]


def read_vocabulary(
    model: TokenizerJson, size: int, reading: NormalizerRules, added: frozenset[int]
) -> Vocabulary:
    """The vocabulary.

    Args:
        model: the field of that name in a tokenizer.json. The library lists each merge once.
        size: the highest id of the tokenizer + 1.
        reading: how a text is read.
        added: ids of added tokens.

    Raises:
        NoStructure: the model may give an id that is neither a piece nor a byte.
    """
    ids = model["vocab"]
    if model["continuing_subword_prefix"] or model["end_of_word_suffix"]:
        raise NoStructure("its model marks the beginnings or ends of words")
    unknown = [ids[name] for name in [model["unk_token"]] if name in ids]
    byte_ids = byte_fallback_ids(model, ids)
    require_ordinary_bytes(byte_ids, {*added, *unknown})
    # As arrays: with a set and a dict of all tokens, opening a large file takes much more memory.
    numbers = np.fromiter(ids.values(), dtype=np.int64, count=len(ids))
    is_piece = (name != "" and reading.is_text(name) for name in ids)  # no text is spelled ""
    is_text = np.fromiter(is_piece, dtype=np.bool_, count=len(ids))
    pieces = np.zeros(size, dtype=np.bool_)
    pieces[numbers[is_text]] = True
    pieces[[i for i in (*added, *byte_ids, *unknown) if i >= 0]] = False
    merges = _merges(model)

    # A single character may be a token without a merge; so may a whole part of the text.
    is_atom = is_text
    if not model["ignore_merges"]:
        is_atom = is_text & np.fromiter((len(name) == 1 for name in ids), np.bool_, len(ids))
    known = pieces.copy()
    if not reading.normalize:  # A normalizer may create the text of an added token.
        known[list(added)] = True
    is_complete = known[numbers[is_atom]].all() and known[merges].all()
    if not is_complete:
        raise NoStructure("its model may give an id that it does not decode as the same text")
    return Vocabulary(pieces, merges, byte_ids)


def _merges(model: TokenizerJson) -> npt.NDArray[np.int32]:
    """Ids (left, right, result) of each merge, in the order in which merges are applied."""
    ids = model["vocab"]
    merges = model["merges"]
    parts = [
        np.array([(ids[a], ids[b], ids[a + b]) for a, b in pairs], dtype=np.int32).reshape(-1, 3)
        for pairs in (merges.in_parts() if isinstance(merges, Merges) else [merges])
    ]
    return np.concatenate(parts)
