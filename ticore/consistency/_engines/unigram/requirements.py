"""Which structures the unigram engine is exact for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ....interfaces import TokenizerStructure
from ..._modes import Mode
from ..._tokenizer_rules import normalizers
from ..._tokenizer_rules.character_splits import depend_on_unicode, splits_between
from ..._unsupported import Unsupported

# Each changes a text if and only if it changes a character or two neighbours of it, taken alone.
_PAIRWISE = frozenset(
    {"nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf", "identity", "metaspace", "character_map"}
)
_PAIRWISE_STEPS = frozenset(
    {"nfd", "nfkd", "lowercase", "strip_accents", "replace", "by_character"}
)
_PAIR = 2


def require_known(structure: TokenizerStructure, special_ids: frozenset[int], mode: Mode) -> None:
    """Refuse a structure that `UnigramEngine` is not exact for.

    Raises:
        Unsupported: for such a structure.
    """
    kind, atoms, name = structure.kind, structure.atoms, structure.normalizer
    scores = None if structure.scores is None else structure.scores[structure.pieces]
    added = structure.added_tokens
    by_clusters = name == normalizers.CLUSTERS
    reasons = (
        (
            (kind, atoms) != ("unigram", "characters"),
            f"a {kind} tokenizer of {atoms} is not a unigram tokenizer of characters",
        ),
        (
            scores is None or not len(scores) or not np.isfinite(scores).all(),
            "its pieces have no scores, or infinite ones",
        ),
        (
            not by_clusters
            and name not in _PAIRWISE
            and not _PAIRWISE_STEPS.issuperset(name.split("+")),
            f"the normalizer {name!r} may change more than pairs of characters",
        ),
        (
            not by_clusters and any(len(text) > _PAIR for text in structure.replacements),
            "its normalizer replaces texts of more than two characters",
        ),
        (
            name != "identity" and structure.normalize is None,
            f"what the normalizer {name!r} does is not known",
        ),
        (
            not special_ids.issuperset(added.values()),
            "added tokens compete with its pieces",
        ),
        (
            # Then a list of spaces alone goes on with a text that begins with one more space.
            mode == "viable" and structure.keeps_whitespace and _drops_first_space(structure),
            "a space at the beginning of a text takes the place of its prefix",
        ),
    )
    for applies, why in reasons:
        if applies:
            raise Unsupported(why)
    _require_known_splits(structure)
    normalizers.require_known(structure, mode)


def _require_known_splits(structure: TokenizerStructure) -> None:
    """Refuse a pretokenizer whose splits are not known exactly. Raises Unsupported."""
    splits = structure.pretokenizer
    are_apart = splits_between(splits)
    if any(are_apart(*pair) for text in structure.added_tokens for pair in pairwise(text)):
        raise Unsupported("an added token holds a place at which a pretokenizer splits the text")
    if depend_on_unicode(splits):
        raise Unsupported(
            f"libraries may disagree on where its pretokenizer {splits!r} splits a text"
        )


def _drops_first_space(structure: TokenizerStructure) -> bool:
    return structure.normalize is not None and structure.normalize(" |") == "|"
