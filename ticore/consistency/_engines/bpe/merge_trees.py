"""How BPE builds each token out of its atoms, found without running BPE.

Each reachable token has one *merge tree*: its last merge joined two parts, each of which has a
tree of its own. With the rules 0: a+b, 1: c+d, 2: ab+cd:

              abcd               made at clock 2
             /    \\
           ab      cd            made at 0 and 1; used up at 2; the deadline of both is 2
          /  \\    /  \\
         a    b  c    d          made at -1, that is, at the start

A rule may have a lower rank than those that make its sides. With 0: ab+c and 1: a+b, both ab and
abc are made at clock 1, and the deadline of ab is 0: no other merge runs while it waits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....interfaces import TokenizerStructure
from .merge_rules import Ints, MergeRules, atoms
from .pair_test import PairTest


@dataclass(frozen=True, eq=False)
class MergeTrees:
    """The merge trees of a vocabulary, as arrays of shape [vocab_size].

    Attributes:
        reachable: bool, whether BPE gives the token for its own text.
        left_part, right_part: int32, the ids that the last merge joined; -1 for atoms and for
            tokens that are not reachable.
        made_at: int32, the clock (the highest rank merged so far) after the last merge; -1 for
            atoms.
        left_deadline, right_deadline: int32, the highest rank that is merged while the left part
            (the right part) waits for the last merge, that merge included.
    """

    reachable: npt.NDArray[np.bool_]
    left_part: Ints
    right_part: Ints
    made_at: Ints
    left_deadline: Ints
    right_deadline: Ints


def grow_merge_trees(
    structure: TokenizerStructure, spelled: Sequence[bytes], rules: MergeRules
) -> MergeTrees:
    """The merge tree of every token.

    A token is reachable iff some rule joins two reachable tokens that nothing else would have
    merged across. There is one such rule at most, since the last merge of a run is one. Short
    tokens come first, all of one length together, so the trees of both are known by then.

    Args:
        structure: of kind "bpe".
        spelled: the bytes of every id.
        rules: `merge_rules` of the two.
    """
    test = PairTest(rules, len(spelled))
    reachable = np.zeros(len(spelled), dtype=bool)
    reachable[atoms(structure, spelled)] = True
    lengths = np.array(list(map(len, spelled)), dtype=np.int64)[rules.result]
    order = np.argsort(lengths, kind="stable")
    for of_one_length in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1):
        is_open = ~reachable[rules.result[of_one_length]]
        is_open &= reachable[rules.left[of_one_length]] & reachable[rules.right[of_one_length]]
        asked = of_one_length[is_open]
        last = asked[~test.merge(rules.left[asked], rules.right[asked], whole=False)]
        left, right, result = rules.left[last], rules.right[last], rules.result[last]
        test.add_trees(left, right, result, rules.rank[last])
        reachable[result] = True
    return MergeTrees(
        reachable,
        test.left_part,
        test.right_part,
        test.made_at,
        test.left_deadline,
        test.right_deadline,
    )
