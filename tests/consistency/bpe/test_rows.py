"""Whole rows and columns of the pair test, against the algorithm on every pair."""

import numpy as np
from hypothesis import example, given

from tests.consistency.random_bpe import Bpe, Learned, models
from ticore.consistency.bpe.rows import column, rows

# Rules that are more urgent than those which make their parts.
BACKWARDS = Bpe(
    rules=((b"ab", b"ab"), (b"ab", b"c"), (b"b", b"a"), (b"a", b"b"), (b"ba", b"b"), (b"b", b"b")),
    pattern="gpt2",
)


@given(model=models)
@example(model=BACKWARDS)
@example(model=Bpe(ranks=((b"ab", 0), (b"ba", 0), (b"abab", 0)), pattern="gpt2"))
def test_rows_are_what_bpe_does_with_every_pair(model):
    learned = Learned(model)
    table = rows(learned.rules, learned.runs)
    for left in learned.reachable:
        row = table.row(left)
        for right in learned.reachable:
            assert row[right] == learned.stay_apart(left, right), learned.named(left, right)
            assert table.apart(left, right) == row[right], learned.named(left, right)


@given(model=models)
@example(model=BACKWARDS)
def test_columns_are_what_bpe_does_with_every_pair(model):
    learned = Learned(model)
    for right in learned.reachable:
        found = column(learned.rules, learned.runs, right)
        for left in learned.reachable:
            assert found[left] == learned.stay_apart(left, right), learned.named(left, right)


@given(model=models)
def test_nothing_stands_next_to_what_bpe_does_not_give(model):
    learned = Learned(model)
    table = rows(learned.rules, learned.runs)
    hidden = np.flatnonzero(~learned.runs.reachable)
    for token in hidden.tolist()[:3]:
        assert not table.row(token).any()
        assert not any(table.apart(token, other) for other in range(len(table.place)))
        assert not column(learned.rules, learned.runs, token).any()
    for token in learned.reachable[:3]:
        assert not table.row(token)[hidden].any()
        assert not column(learned.rules, learned.runs, token)[hidden].any()


def test_a_vocabulary_without_rules_keeps_everything_apart():
    learned = Learned(Bpe(pattern="gpt2"))
    table = rows(learned.rules, learned.runs)
    for left in learned.reachable:
        assert table.row(left).tolist() == learned.runs.reachable.tolist()
