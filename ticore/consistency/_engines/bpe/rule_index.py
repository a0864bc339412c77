"""The rules of many pairs of tokens at once."""

from __future__ import annotations

import numpy as np

from .key_index import KeyIndex, Keys
from .merge_rules import Ints, MergeRules

NEVER = int(np.iinfo(np.int32).max)
"""The rank of a rule that does not exist, and the clock at which a whole token is used up."""


class RuleIndex:
    """Finds rules by the two tokens that they merge.

    Args:
        rules: of one vocabulary.
    """

    def __init__(self, rules: MergeRules) -> None:
        self._index = KeyIndex(_keys(rules.left, rules.right))
        # The last one is for pairs without a rule, whose number is -1.
        self._ranks = np.append(rules.rank, NEVER).astype(np.int32)
        self._results = np.append(rules.result, -1).astype(np.int32)

    def ranks(self, left: Ints, right: Ints) -> Ints:
        """The rank of the rule for left[i] and right[i]; `NEVER` where there is none: int32[n]."""
        return self._ranks[self._index.find(_keys(left, right))]

    def results(self, left: Ints, right: Ints) -> Ints:
        """What left[i] and right[i] merge into; -1 where there is no rule: int32[n]."""
        return self._results[self._index.find(_keys(left, right))]


def _keys(left: Ints, right: Ints) -> Keys:
    return left.astype(np.uint64) << np.uint64(32) | right.astype(np.uint64)
