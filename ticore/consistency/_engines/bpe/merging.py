"""BPE itself, for many texts side by side: the best merge of each text, then the next one of each.

Only the few pieces that no merges give are merged in this way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .merge_rules import Ints, MergeRules
from .rule_index import NEVER, RuleIndex


def merge_side_by_side(lists: Sequence[Ints], rules: MergeRules) -> list[tuple[int, ...]]:
    """What merging leaves of each list of tokens.

    Args:
        lists: each int32[n], n at least 1.
        rules: those of one vocabulary.
    """
    index = RuleIndex(rules)
    tokens = np.concatenate(lists)
    text_of = np.repeat(np.arange(len(lists)), list(map(len, lists)))
    while True:
        ranks = index.ranks(tokens[:-1], tokens[1:])
        ranks[text_of[:-1] != text_of[1:]] = NEVER
        found = np.flatnonzero(ranks != NEVER)
        if not len(found):
            break
        # The best merge of each text: the lowest rank, of equal ones the leftmost.
        found = found[np.lexsort((found, ranks[found], text_of[found]))]
        is_best = np.diff(text_of[found], prepend=-1) > 0
        at = found[is_best]
        tokens[at] = index.results(tokens[at], tokens[at + 1])
        kept = np.ones(len(tokens), dtype=bool)
        kept[at + 1] = False
        tokens, text_of = tokens[kept], text_of[kept]
    ends = np.flatnonzero(np.diff(text_of)) + 1
    return [tuple(part.tolist()) for part in np.split(tokens, ends)]
