"""The fastest rung: an engine that decides from tables, where one is exact for the tokenizer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from ..interfaces import TokenizerStructure
from . import added, normalization, store, unigram
from .bpe.grouping import Grouping, Sorting, sort_vocabulary
from .bpe.rows import expect
from .bpe.run_engine import RunEngine
from .bpe.shapes import shapes_of
from .bpe.split_engine import SplitEngine
from .bpe.vocabulary import Tables, Vocabulary, build
from .engine import Bools, Engine
from .normalization import Normalization
from .oracle import Oracle
from .patterns import KNOWN, WORDS
from .unicode14 import VERSION

Arrays = Mapping[str, npt.NDArray[Any]]


LONGEST_TOKEN = 1024
"""Bytes of a token. Each way to cut a token in two is looked at; real ones have some hundred."""


def table_engine(oracle: Oracle) -> Engine[Any] | str:
    """The engine for the oracle's tokenizer and mode, or why there is none."""
    tokenizer = oracle.tokenizer
    structure = tokenizer.structure()
    if structure is None:
        return "the tokenizer's structure is not known"
    spelled = [tokenizer.token_bytes(i) for i in range(tokenizer.vocab_size)]
    longest = max(map(len, spelled), default=0)
    if longest > LONGEST_TOKEN:
        return f"a token has {longest:,} bytes, tables are made for up to {LONGEST_TOKEN:,}"
    if structure.kind == "unigram":
        return unigram.obstacle(structure) or unigram.UnigramEngine(
            structure, spelled, tokenizer.special_ids, oracle.mode
        )
    is_one_run = _is_one_run(structure, spelled)
    special = tokenizer.special_ids
    if why := _obstacle(structure, is_one_run) or added.obstacle(
        structure.added_tokens, special, oracle.mode
    ):
        return why
    if not structure.keeps_whitespace and not special.issuperset(structure.added_tokens.values()):
        return "spaces are dropped, perhaps behind added tokens too"
    make = _run_engine if is_one_run else _split_engine
    return make(structure, spelled, oracle)


def _is_one_run(structure: TokenizerStructure, spelled: Sequence[bytes]) -> bool:
    """Whether BPE reads a text as if nothing split it."""
    if structure.pretokenizer == (WORDS,):
        # A split before every space changes nothing where no piece goes on behind one.
        pieces = np.flatnonzero(structure.pieces).tolist()
        return not any(spelled[piece].find(b" ", 1) > 0 for piece in pieces)
    return not structure.pretokenizer


def _obstacle(structure: TokenizerStructure, is_one_run: bool) -> str:
    """What keeps a BPE structure from being verified by table; empty if nothing does."""
    if why := normalization.obstacle(structure):
        return why
    if is_one_run:
        if structure.atoms != "characters" or structure.ignore_merges:
            return "without a pretokenizer only plain BPE of characters is known here"
        return ""
    if len(structure.pretokenizer) > 1 or structure.pretokenizer[0] not in KNOWN:
        return "the pretokenizer's regular expression is not one of those known"
    if structure.atoms != "bytes" or structure.dummy_prefix or not structure.keeps_whitespace:
        return "with a pretokenizer only BPE of bytes that keeps all spaces is known here"
    return ""


def _split_engine(
    structure: TokenizerStructure, spelled: Sequence[bytes], oracle: Oracle
) -> SplitEngine:
    name = _name(oracle)
    shapes, size = shapes_of(structure.pretokenizer[0]), len(spelled)
    normalization = Normalization(structure)

    def unpack(stored: Arrays) -> tuple[Tables, Sorting, Sorting]:
        tables = Tables.from_arrays(stored, spelled)
        plain, near = (
            Sorting.from_arrays(_unnamed(part, stored), size) for part in ("plain", "near")
        )
        return tables, plain, near

    stored = store.unpacked(name, unpack)
    tables = build(structure, spelled) if stored is None else stored[0]
    vocabulary = Vocabulary(tables, spelled)
    grouping = Grouping(shapes, normalization, oracle.mode, vocabulary)
    if stored is None:
        plain, near = (
            _sort(structure, spelled, vocabulary, grouping, near_apostrophe=flag)
            for flag in (False, True)
        )
        arrays = tables.to_arrays() | _named("plain", plain) | _named("near", near)
        store.save(name, arrays)
    else:
        _, plain, near = stored
    return SplitEngine(structure, spelled, vocabulary, grouping, plain, near, oracle)


def _sort(
    structure: TokenizerStructure,
    spelled: Sequence[bytes],
    vocabulary: Vocabulary,
    grouping: Grouping,
    near_apostrophe: bool,
) -> Sorting:
    texts = added.Texts(text.encode() for text in structure.added_tokens)
    candidates = [
        token
        for token in np.flatnonzero(
            structure.pieces & (vocabulary.reachable | vocabulary.alone)
        ).tolist()
        if not texts.are_in(spelled[token])
    ]
    alone = vocabulary.alone.tolist()
    return sort_vocabulary(grouping, spelled, candidates, alone, near_apostrophe)


def _run_engine(
    structure: TokenizerStructure, spelled: Sequence[bytes], oracle: Oracle
) -> RunEngine:
    name, size = _name(oracle), len(spelled)

    def unpack(stored: Arrays) -> tuple[Tables, Bools]:
        starting = stored["starting"]
        expect(starting.shape == (size,) and starting.dtype == bool)
        return Tables.from_arrays(stored, spelled), starting

    stored = store.unpacked(name, unpack)
    tables, starting = (build(structure, spelled), None) if stored is None else stored
    engine = RunEngine(structure, spelled, Vocabulary(tables, spelled), oracle, starting)
    if stored is None:
        store.save(name, {**tables.to_arrays(), "starting": engine.starting})
    return engine


def _name(oracle: Oracle) -> str:
    """What the tables depend on: the tokenizer, the mode, and what is known of characters."""
    versions = f"{VERSION}-{regex.__version__}"
    return f"{oracle.tokenizer.digest()}-{oracle.mode}-{versions}"


def _named(part: str, sorting: Sorting) -> dict[str, npt.NDArray[Any]]:
    return {f"{part}_{name}": array for name, array in sorting.to_arrays().items()}


def _unnamed(part: str, arrays: Arrays) -> Arrays:
    return {
        name.removeprefix(f"{part}_"): array
        for name, array in arrays.items()
        if name.startswith(f"{part}_")
    }
