"""A tokenizer.json in the core's terms, where it is BPE that reads a text in one of the known ways.

The pretokenizer's expressions are given as the file has them, written for Oniguruma.
"""

from __future__ import annotations

from tokenizers import Tokenizer

from ticore.interfaces import TokenizerStructure

from .added import find_added
from .byte_level import read_byte_level
from .reading import State
from .space_marks import read_space_marks
from .spelling import spelling
from .vocabulary import read_vocabulary


def describe(library: Tokenizer, state: State, size: int) -> TokenizerStructure | None:
    """The structure of a tokenizer whose decoder `spelling` accepts, or None.

    Args:
        library: the tokenizer.
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
