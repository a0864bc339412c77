r"""Splits of a text that depend on the two characters beside them, and on nothing else.

Tokenizers that mark spaces read a text as one part, or split it before each space. A further step,
such as Digits, splits it wherever a run of digits begins or ends:

    " ab 12c"   ->   " ab" | " " | "12" | "c"

Each match of such a step is a run of one set, or a single character of it. So two neighbours are
*apart*, or they are not, wherever they stand. Then no boundary of a part need be remembered: it is
enough that nothing is merged across it.

1. BPE splits a text between two characters that are apart if and only if the rules that merge
   across them are left out.
2. A unigram piece that holds two characters that are apart is never found, and the sum of scores
   begins again between them.

A step that splits where sets change (`change_step`) depends on two neighbours too, if both are in a
set. A character in none may stand between two sets, and is dropped at the beginning of a part. So
no token may join one to others, and each part must begin with a marked space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
import regex

from ...interfaces import Split, TokenizerStructure
from .._unsupported import Unsupported
from .byte_steps import is_boundary, is_run
from .expressions.character_sets import may_be_in_doubt
from .expressions.classes import CharacterClasses, is_ambiguous
from .expressions.syntax import parse
from .expressions.tree import Choice, Node, Repeat, leaves
from .pretokenizers import WORDS

Apart = Callable[[str, str], bool]
"""Whether two characters are apart, if the first one stands before the second one."""

_MARK = "\N{LOWER ONE EIGHTH BLOCK}"  # what a step after Metaspace sees for a space
_CACHED_PAIRS = 1 << 16
_GAP = -1  # the kind of a character that no match holds


@cache
def splits_between(steps: tuple[str | Split, ...]) -> Apart:
    """Which characters the steps of a pretokenizer split.

    Args:
        steps: those of a TokenizerStructure.

    Returns:
        A function that is exact for characters that are not `is_ambiguous`.

    Raises:
        Unsupported: a step does not split by two characters alone.
    """
    tests = [_step(step) for step in steps]
    if len(tests) == 1:
        return tests[0]

    @lru_cache(maxsize=_CACHED_PAIRS)
    def are_apart(before: str, after: str) -> bool:
        return any(test(before, after) for test in tests)

    return are_apart


def depend_on_unicode(steps: Sequence[str | Split]) -> bool:
    """Whether libraries may split otherwise: by the version of Unicode, or in ignoring case."""
    return any(
        may_be_in_doubt(step if isinstance(step, str) else step.expression)
        for step in steps
        if step != WORDS
    )


def without_merges_across(
    structure: TokenizerStructure, spelled: Sequence[bytes]
) -> TokenizerStructure:
    """The same tokenizer as one that splits no text, without the rules that merge across splits.

    Args:
        structure: of BPE of characters, with rules.
        spelled: the bytes of every id.

    Raises:
        Unsupported: a step is not known here, or libraries may disagree on a rule.
    """
    steps = structure.pretokenizer
    are_apart = splits_between(steps)
    assert structure.merges is not None
    if structure.ignore_merges:
        raise Unsupported("its pretokenizer splits texts of characters, with ignore_merges")
    texts = [data.decode(errors="replace") for data in spelled]
    pairs = [(texts[left][-1], texts[right][0]) for left, right, _ in structure.merges.tolist()]
    require_in_sets(structure, (character for pair in pairs for character in pair))
    doubtful = sorted(filter(is_ambiguous, {character for pair in pairs for character in pair}))
    if doubtful and depend_on_unicode(steps):
        raise Unsupported(
            f"libraries disagree on whether its pretokenizer splits at {doubtful[0]!a}"
        )
    kept = [not are_apart(before, after) for before, after in pairs]
    merges = structure.merges[np.array(kept, dtype=bool)]
    return replace(structure, merges=merges, pretokenizer=())


def require_in_sets(structure: TokenizerStructure, characters: Iterable[str]) -> None:
    """Refuse a step that splits where sets change, if it may do more than split two neighbours.

    Args:
        structure: of the tokenizer.
        characters: those that its tokens join to others.

    Raises:
        Unsupported: one of them is in no set, or the step may drop the beginning of a part.
    """
    for at, step in enumerate(structure.pretokenizer):
        if isinstance(step, str) or step.behavior != "on_change":
            continue
        if not structure.dummy_prefix or any(s != WORDS for s in structure.pretokenizer[:at]):
            raise Unsupported(
                "the pretokenizer drops what stands at the beginning of some parts, where scripts "
                "change; put that step right after Metaspace, with a prepend_scheme other than "
                "'never'"
            )
        kind_of = _kinds(step, parse(step.expression, step.dialect))
        alone = next((c for c in characters if kind_of(c) == _GAP), None)
        if alone is not None:
            raise Unsupported(f"a token joins {alone!a}, which has no script, to others")


def _step(step: str | Split) -> Apart:
    if step == WORDS:
        return lambda _, after: after == " "
    split = Split(step) if isinstance(step, str) else step
    node = parse(split.expression, split.dialect)
    if split.behavior == "on_change":
        if split.reads != "marks":
            raise Unsupported(
                "the pretokenizer splits texts where scripts change, before Metaspace"
            )
        set_of = _kinds(split, node)
        return lambda before, after: _GAP != set_of(before) != set_of(after) != _GAP
    options = node.options if isinstance(node, Choice) else (node,)
    sets = [regex.compile(leaf.source) for leaf in leaves(node)]
    runs = [isinstance(option, Repeat) for option in options]
    if split.reads == "bytes" or not all(map(is_run, options)):
        raise _unsupported(split)
    for member in CharacterClasses([node]).members_with_letters:
        if sum(one.fullmatch(member) is not None for one in sets) > 1:
            raise _unsupported(split)  # which option takes it depends on what stands before
    if split.behavior == "removed":
        raise Unsupported(f"the pretokenizer drops text: its step {split!r}")

    kind_of = _kinds(split, node)

    def are_apart(before: str, after: str) -> bool:
        first, second = kind_of(before), kind_of(after)
        is_one = first == second and (first == _GAP or runs[first])
        return not is_one and is_boundary(split, first != _GAP, second != _GAP)

    return are_apart


def _kinds(split: Split, node: Node) -> Callable[[str], int]:
    """The number of the set that a character is in; `_GAP` for none."""
    sets = [regex.compile(leaf.source) for leaf in leaves(node)]

    @cache
    def kind_of(character: str) -> int:
        seen = _MARK if character == " " and split.reads == "marks" else character
        return next((n for n, one in enumerate(sets) if one.fullmatch(seen)), _GAP)

    return kind_of


def _unsupported(split: Split) -> Unsupported:
    return Unsupported(
        f"the pretokenizer's step {split.expression!r} splits texts of characters; known there are "
        f"single characters of a set, such as [0-9], and runs of them, such as [0-9]+"
    )
