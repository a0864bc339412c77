"""The ranks of many pairs at once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ticore.consistency._engines.bpe.merge_rules import MergeRules
from ticore.consistency._engines.bpe.rule_index import NEVER, RuleIndex

ids = st.integers(0, 5) | st.sampled_from((2**16, 2**31 - 1))


@given(
    rules=st.dictionaries(st.tuples(ids, ids), st.integers(0, 9)),
    asked=st.lists(st.tuples(ids, ids)),
)
def test_rule_index_has_the_rank_of_each_pair_with_a_rule_and_of_no_other(rules, asked):
    columns = np.array([(*pair, 0, rank) for pair, rank in rules.items()], dtype=np.int32)
    index = RuleIndex(MergeRules(*columns.reshape(-1, 4).T))
    asked = [*asked, *rules]
    left, right = np.array(asked, dtype=np.int32).reshape(-1, 2).T
    assert index.ranks(left, right).tolist() == [rules.get(pair, NEVER) for pair in asked]
