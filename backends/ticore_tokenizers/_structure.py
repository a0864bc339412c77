"""A tokenizer.json as a TokenizerStructure, if it is BPE that reads a text in a known way.

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
from ._vocabulary import read_vocabulary


def describe(library: Tokenizer, state: TokenizerJson, size: int) -> TokenizerStructure:
    """The structure of a tokenizer.

    Args:
        library: the tokenizer, whose decoder `spelling` accepts.
        state: its tokenizer.json.
        size: its highest id + 1.

    Raises:
        NoStructure: no structure describes it exactly.
    """
    model, spell = state["model"], spelling(state["decoder"])
    if model["type"] != "BPE":
        raise NoStructure(f"its model is {model['type']}; tokenizer.json files of BPE are known")
    normalizer = library.normalizer
    normalize = None if normalizer is None else normalizer.normalize_str
    if state["decoder"]["type"] == "ByteLevel":
        reading = read_byte_level(state, normalize)
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
        normalize=reading.normalize,
        pretokenizer=reading.pretokenizer,
        dummy_prefix=reading.dummy_prefix,
        added_tokens=added,
        added_flags=find_flags(state, added),
    )
