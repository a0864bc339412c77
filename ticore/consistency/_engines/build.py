"""The fastest method: an engine that decides from tables, if one is exact for the tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from ..._support import table_cache
from ...interfaces import TokenizerStructure
from .._arrays import Bools
from .._tokenizer_rules import (
    added_tokens,
    character_splits,
    continuations,
    missing_bytes,
    normalizers,
)
from .._tokenizer_rules.byte_steps import without_merges_across
from .._tokenizer_rules.continuations import Continuations
from .._tokenizer_rules.normalizers import Normalization
from .._tokenizer_rules.pretokenizers import WORDS, splitter_for
from .._tokenizer_rules.unicode14 import VERSION
from .._unsupported import Unsupported
from .base import Engine
from .bpe.character_classes import shapes_for
from .bpe.loose_characters import loose_characters, with_atoms
from .bpe.pair_table import expect
from .bpe.pretokenized_engine import PretokenizedEngine
from .bpe.table_engine import TableEngine
from .bpe.token_groups import GroupedVocabulary, TokenGrouper, group_vocabulary
from .bpe.token_pairs import BpeTables, TokenPairs, build_tables
from .bpe.unsplit_engine import UnsplitEngine
from .dropped_beginning import with_dropped_beginning
from .leading_space import with_leading_space, without_leading_space
from .nested_added_tokens import with_nested
from .retokenizing import Oracle
from .single_words import has_single_words, with_single_words, without_single_words
from .tokenizer_parts import spelled_by, structure_of
from .unigram.engine import UnigramEngine

Arrays = Mapping[str, npt.NDArray[Any]]
_Make = Callable[[TokenizerStructure, Sequence[bytes], Oracle], TableEngine[Any]]


LONGEST_TOKEN = 1024
"""The most bytes of a token. Each way to cut a token in two is tried; real ones have hundreds."""


def table_engine(oracle: Oracle) -> Engine[Any]:
    """The engine for the oracle's tokenizer and mode.

    Raises:
        Unsupported: no tables are exact for them.
    """
    tokenizer = oracle.tokenizer
    structure = structure_of(tokenizer)
    if structure.adds_leading_space:
        inner = table_engine(Oracle(without_leading_space(tokenizer), oracle.mode))
        added = structure.added_tokens.values()
        return with_leading_space(inner, spelled_by(tokenizer), added, oracle)
    spelled = spelled_by(tokenizer)
    longest = max(map(len, spelled), default=0)
    if longest > LONGEST_TOKEN:
        raise Unsupported(
            f"a token has {longest:,} bytes, tables are made for up to {LONGEST_TOKEN:,}"
        )
    if has_single_words(structure):
        inner = table_engine(Oracle(without_single_words(tokenizer), oracle.mode))
        return with_single_words(inner, structure, spelled, oracle)
    make = _unigram_engine if structure.kind == "unigram" else _bpe_engine
    return make(structure, spelled, oracle)


def _bpe_engine(
    structure: TokenizerStructure, spelled: Sequence[bytes], oracle: Oracle
) -> Engine[Any]:
    if structure.atoms == "characters" and structure.pretokenizer and structure.merges is not None:
        structure = character_splits.without_merges_across(structure, spelled)
    is_one_run = _is_one_run(structure, spelled)
    special = oracle.tokenizer.special_ids
    normalizers.require_known(structure, oracle.mode)
    _require_known(structure, is_one_run)
    if structure.atoms == "bytes":
        structure = without_merges_across(structure, spelled)
        missing_bytes.require_harmless(structure, spelled, oracle.mode)
    continuations.require_kept_apart(structure, oracle.mode)
    if not structure.keeps_whitespace and not special.issuperset(structure.added_tokens.values()):
        raise Unsupported("spaces are dropped, perhaps after added tokens too")
    make: _Make = _run_engine if is_one_run else _split_engine
    engine = make(structure, spelled, oracle)
    nested = with_nested(engine, structure.added_tokens, oracle, spelled, asks=not is_one_run)
    if not is_one_run and (splitter := splitter_for(structure.pretokenizer)).drops_beginnings:
        added = structure.added_tokens.values()
        return with_dropped_beginning(nested, splitter, spelled, added, oracle)
    return nested


def _is_one_run(structure: TokenizerStructure, spelled: Sequence[bytes]) -> bool:
    """Whether BPE reads a text as one part, as if nothing split it."""
    if structure.pretokenizer == (WORDS,):
        # A split before every space changes nothing if no piece holds a space after its first byte.
        pieces = np.flatnonzero(structure.pieces).tolist()
        return not any(spelled[piece].find(b" ", 1) > 0 for piece in pieces)
    return not structure.pretokenizer


def _require_known(structure: TokenizerStructure, is_one_run: bool) -> None:
    """Refuse a BPE structure that no tables are made for.

    Raises:
        Unsupported: for such a structure.
    """
    if is_one_run:
        if structure.atoms != "characters" or structure.ignore_merges:
            raise Unsupported("without a pretokenizer only plain BPE of characters is known here")
    elif structure.atoms != "bytes" or structure.dummy_prefix or not structure.keeps_whitespace:
        raise Unsupported(
            "with a pretokenizer only BPE of bytes that keeps all spaces is known here"
        )
    elif splitter_for(structure.pretokenizer).drops_beginnings_of_parts:
        raise Unsupported(
            "the pretokenizer drops what stands at the beginning of parts that it made before; put "
            "the step that splits where scripts change first"
        )


def _split_engine(
    structure: TokenizerStructure, spelled: Sequence[bytes], oracle: Oracle
) -> PretokenizedEngine:
    name = _name(oracle)
    shapes, size = shapes_for(structure.pretokenizer), len(spelled)
    normalizers = Normalization(structure)

    def unpack(stored: Arrays) -> tuple[BpeTables, GroupedVocabulary, GroupedVocabulary]:
        tables = BpeTables.from_arrays(stored, spelled)
        plain, near = (
            GroupedVocabulary.from_arrays(_unnamed(part, stored), size)
            for part in ("plain", "near")
        )
        return tables, plain, near

    stored = table_cache.load_unpacked(name, unpack)
    tables = build_tables(structure, spelled) if stored is None else stored[0]
    vocabulary = TokenPairs(tables, spelled)
    following = Continuations(structure, oracle.mode)
    grouping = TokenGrouper(shapes, normalizers, oracle.mode, vocabulary, following)
    if stored is None:
        candidates, alone = _candidates(structure, spelled, vocabulary), vocabulary.whole_part_only
        plain, near = (
            group_vocabulary(grouping, spelled, candidates, alone.tolist(), near_apostrophe)
            for near_apostrophe in (False, True)
        )
        arrays = tables.to_arrays() | _named("plain", plain) | _named("near", near)
        table_cache.save(name, arrays)
    else:
        _, plain, near = stored
    return PretokenizedEngine(structure, spelled, vocabulary, grouping, plain, near, oracle)


def _candidates(
    structure: TokenizerStructure, spelled: Sequence[bytes], pairs: TokenPairs
) -> list[int]:
    """The pieces that some text may hold, except for those that hold an added token."""
    may_occur = structure.pieces & (pairs.reachable | pairs.whole_part_only)
    pieces: list[int] = np.flatnonzero(may_occur).tolist()
    if not structure.added_tokens:
        return pieces
    texts = added_tokens.Texts(text.encode() for text in structure.added_tokens)
    return [token for token in pieces if not texts.are_in(spelled[token])]


def _run_engine(
    structure: TokenizerStructure, spelled: Sequence[bytes], oracle: Oracle
) -> UnsplitEngine:
    name, size = _name(oracle), len(spelled)
    loose = loose_characters(structure, spelled)
    if loose and structure.dummy_suffix:
        raise Unsupported(
            f"the space that is put after each text may merge with {loose[0]!r}, which occurs in "
            f"pieces only"
        )
    with_loose, texts = with_atoms(structure, spelled, loose)

    def unpack(stored: Arrays) -> tuple[BpeTables, Bools, Bools]:
        starting, usable = stored["starting"], stored["usable"]
        for answers in (starting, usable):
            expect(answers.shape == (size,) and answers.dtype == bool)
        return BpeTables.from_arrays(stored, texts), starting, usable

    stored = table_cache.load_unpacked(name, unpack)
    tables, starting, usable = stored or (build_tables(with_loose, texts), None, None)
    pairs = TokenPairs(tables, texts)
    engine = UnsplitEngine(structure, spelled, pairs, oracle, starting, loose, usable)
    if stored is None:
        found = {"starting": engine.starting, "usable": engine.usable}
        table_cache.save(name, {**tables.to_arrays(), **found})
    return engine


def _unigram_engine(
    structure: TokenizerStructure, spelled: Sequence[bytes], oracle: Oracle
) -> UnigramEngine:
    """The tables hold for every mode, and for the scores, which a library may choose."""
    scores = b"" if structure.scores is None else structure.scores.tobytes()
    scored = sha256(scores + structure.pieces.tobytes()).hexdigest()[:16]
    name = f"{oracle.tokenizer.digest()}-unigram-{scored}-{VERSION}"
    special, mode = oracle.tokenizer.special_ids, oracle.mode

    def unpack(stored: Arrays) -> UnigramEngine:
        return UnigramEngine(structure, spelled, special, mode, stored)

    engine = table_cache.load_unpacked(name, unpack)
    if engine is None:
        engine = UnigramEngine(structure, spelled, special, mode)
        table_cache.save(name, engine.tables())
    return engine


def _name(oracle: Oracle) -> str:
    """The name of the tables: the tokenizer, the mode and the Unicode versions they depend on."""
    versions = f"{VERSION}-{regex.__version__}"
    return f"{oracle.tokenizer.digest()}-{oracle.mode}-{versions}"


def _named(part: str, sorting: GroupedVocabulary) -> dict[str, npt.NDArray[Any]]:
    return {f"{part}_{name}": array for name, array in sorting.to_arrays().items()}


def _unnamed(part: str, arrays: Arrays) -> Arrays:
    return {
        name.removeprefix(f"{part}_"): array
        for name, array in arrays.items()
        if name.startswith(f"{part}_")
    }
