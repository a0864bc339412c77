"""A tokenizer.json as a TokenizerStructure, if it is BPE or Unigram, read in a known way.

The pretokenizer's expressions are those of the file, in the syntax of Oniguruma.
"""

from __future__ import annotations

from tokenizers import Tokenizer

from ticore.backend_kit import NoStructure
from ticore.interfaces import TokenizerStructure

from ._added import find_added, find_flags
from ._byte_level import read_byte_level
from ._normalizers import TokenizerJson
from ._space_marks import read_space_marks
from ._spelling import spelling
from ._unigram import describe_unigram
from ._vocabulary import read_vocabulary
from ._word_piece import LOSSES, is_word_piece


def describe(library: Tokenizer, state: TokenizerJson, size: int) -> TokenizerStructure:
    """The structure of a tokenizer.

    Args:
        library: the tokenizer, whose decoder `spelling` accepts.
        state: its tokenizer.json.
        size: its highest id + 1.

    Raises:
        NoStructure: no structure describes it exactly.
    """
    model = state["model"]
    if is_word_piece(state):
        raise NoStructure(f"its model is WordPiece, which loses text: {LOSSES}")
    spell = spelling(state["decoder"])
    if model["type"] == "Unigram":
        return describe_unigram(library, state, size)
    if model["type"] != "BPE":
        raise NoStructure(
            f"its model is {model['type']}; tokenizer.json files of BPE and Unigram are known"
        )
    if state["decoder"]["type"] == "ByteLevel":
        reading = read_byte_level(state)
    else:
        reading = read_space_marks(state, spell)
    added = find_added(state, reading, spell)
    vocabulary = read_vocabulary(model, size, reading, frozenset(added.values()))
    return TokenizerStructure(
        kind="bpe",
        atoms=reading.atoms,
        pieces=vocabulary.pieces,
        merges=vocabulary.merges,
        byte_ids=vocabulary.byte_ids,
        ignore_merges=model["ignore_merges"],
        normalizer=reading.normalizer,
        replacements=reading.replacements,
        normalize=reading.normalize,
        pretokenizer=reading.pretokenizer,
        dummy_prefix=reading.dummy_prefix,
        adds_leading_space=reading.adds_leading_space,
        keeps_whitespace=reading.keeps_whitespace,
        added_tokens=added,
        added_flags=find_flags(state, added),
    )
