"""The vocabulary of a BPE model: what it can give, and what it makes of what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .reading import Reading, State


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Fields of a TokenizerStructure."""

    pieces: npt.NDArray[np.bool_]
    merges: npt.NDArray[np.int32]
    byte_ids: tuple[int, ...]


def read_vocabulary(
    model: State, size: int, reading: Reading, added: frozenset[int]
) -> Vocabulary | None:
    """The vocabulary, or None if the model may give an id that is no piece and no byte.

    Args:
        model: the field of that name in a tokenizer.json, where the library lists each rule once.
        size: the highest id of the tokenizer + 1.
        reading: how a text is read.
        added: ids of added tokens.
    """
    ids, byte_ids = model["vocab"], _byte_ids(model)
    if byte_ids is None or model["continuing_subword_prefix"] or model["end_of_word_suffix"]:
        return None
    unknown = [ids[name] for name in [model["unk_token"]] if name in ids]
    texts = {name: i for name, i in ids.items() if reading.is_text(name)}
    pieces = np.zeros(size, dtype=np.bool_)
    pieces[list(set(texts.values()) - {*added, *byte_ids, *unknown})] = True
    merges = _merges(model)

    # Without a rule too, a single character may be a token, or a whole part of the text.
    atoms = [i for name, i in texts.items() if model["ignore_merges"] or len(name) == 1]
    known = pieces.copy()
    if not reading.normalize:  # which may put the text of an added token together
        known[list(added)] = True
    is_complete = known[atoms].all() and known[merges].all()
    return Vocabulary(pieces, merges, byte_ids) if is_complete else None


def _byte_ids(model: State) -> tuple[int, ...] | None:
    """Ids of the bytes of unknown characters, () if these are not used, None if some are absent."""
    if not model["byte_fallback"]:
        return ()
    ids = model["vocab"]
    found = tuple(ids[name] for byte in range(256) if (name := f"<0x{byte:02X}>") in ids)
    return found if len(found) in (0, 256) else None


def _merges(model: State) -> npt.NDArray[np.int32]:
    """Ids (left, right, result), most urgent first."""
    ids = model["vocab"]
    triples = [(ids[left], ids[right], ids[left + right]) for left, right in model["merges"]]
    return np.array(triples, dtype=np.int32).reshape(-1, 3)
