"""A tokenizer.json as a TokenizerStructure, if it is BPE that reads a text in a known way.

The pretokenizer's expressions are those of the file, in the syntax of Oniguruma.
"""

from __future__ import annotations

from tokenizers import Tokenizer

from ticore.interfaces import TokenizerStructure

from ._added import find_added
from ._byte_level import read_byte_level
from ._normalizers import TokenizerJson
from ._space_marks import read_space_marks
from ._spelling import spelling
from ._vocabulary import read_vocabulary


def describe(library: Tokenizer, state: TokenizerJson, size: int) -> TokenizerStructure | None:
    """The structure of a tokenizer; None if no structure describes it exactly.

    Args:
        library: the tokenizer, whose decoder `spelling` accepts.
        state: its tokenizer.json.
        size: its highest id + 1.
    """
    model, spell = state["model"], spelling(state["decoder"])
    if model["type"] != "BPE":
        return None
    normalizer = library.normalizer
    normalize = None if normalizer is None else normalizer.normalize_str
    reading = read_byte_level(state, normalize) or read_space_marks(state, spell)
    if reading is None:
        return None
    added = find_added(state, reading, spell)
    if added is None:
        return None
    vocabulary = read_vocabulary(model, size, reading, frozenset(added.values()))
    if vocabulary is None:
        return None
    return TokenizerStructure(
        kind="bpe",
        atoms=reading.atoms,
        pieces=vocabulary.pieces,
        merges=vocabulary.merges,
        byte_ids=vocabulary.byte_ids,
        ignore_merges=model["ignore_merges"],
        normalizer=reading.normalizer,
        normalize=reading.normalize,
        pretokenizer=reading.pretokenizer,
        dummy_prefix=reading.dummy_prefix,
        added_tokens=added,
    )
