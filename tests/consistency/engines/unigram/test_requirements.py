"""Which structures the unigram engine refuses, and why."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from ticore.consistency._engines.unigram.requirements import require_known
from ticore.consistency._tokenizer_rules.pretokenizers import WORDS
from ticore.consistency._unsupported import Unsupported
from ticore.interfaces import TokenizerStructure

PLAIN = TokenizerStructure(
    kind="unigram",
    atoms="characters",
    pieces=np.array([False, True]),
    scores=np.array([0, -1], dtype=np.float32),
)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"kind": "bpe"}, "a bpe tokenizer of characters is not a unigram"),
        (
            {"atoms": "bytes"},
            "a unigram tokenizer of bytes is not a unigram tokenizer of characters",
        ),
        ({"scores": None}, "its pieces have no scores"),
        ({"pieces": np.array([False, False])}, "its pieces have no scores"),
        ({"scores": np.array([np.nan, -1], dtype=np.float32)}, ""),
        (
            {"scores": np.array([0, np.nan], dtype=np.float32)},
            "its pieces have no scores, or infinite",
        ),
        (
            {"normalizer": "nfc", "normalize": str},
            "the normalizer 'nfc' may change more than pairs",
        ),
        ({"normalizer": "nfkc"}, "what the normalizer 'nfkc' does is not known"),
        ({"normalizer": "nfkc", "normalize": str}, ""),
        ({"normalizer": "nfkd+strip_accents+by_character", "normalize": str}, ""),
        (
            {
                "normalizer": "replace+lowercase",
                "normalize": str,
                "replacements": {"...": "\u2026"},
            },
            "replaces texts of more than two characters",
        ),
        ({"added_tokens": {"<doc>": 1}}, "added tokens compete with its pieces"),
        ({"pretokenizer": (WORDS, "[0-9]+")}, ""),
        ({"pretokenizer": (r"\w+",)}, "libraries may disagree on where its pretokenizer"),
        ({"pretokenizer": ("(?i:x)",)}, "libraries may disagree on where its pretokenizer"),
        ({"pretokenizer": ("ab",)}, "known there are single characters of a set"),
        (
            {"pretokenizer": ("[0-9]+",), "added_tokens": {"a1": 0}},
            "an added token holds a place at which",
        ),
    ],
)
def test_require_known_names_what_the_engine_is_not_exact_for(change, why):
    with pytest.raises(Unsupported, match=why) if why else nullcontext():
        require_known(replace(PLAIN, **change), frozenset({0}), "prefix")
