"""Rejections are counted by token."""

from benchmarks.verification.rejections import RejectionCount
from tests.support.toy_models import ToyTokenizer
from ticore.consistency import Verifier


def test_rejection_count_add_counts_rejected_and_blocked_tokens():
    """`aab` is read as one piece: no text is read as `a`, `a`, `b`."""
    tokenizer = ToyTokenizer(["", "a", "b", "ab", "aab"])
    count = RejectionCount()
    count.add(Verifier(tokenizer), [1, 1, 2, 2])
    # a | a a | a a b is read as aab, so this list and all after it are rejected.
    assert (count.token_count, count.rejected_count) == (4, 2)
    assert (count.reached_count, count.blocked_count) == (3, 1)
    count.add(Verifier(tokenizer), [4, 4])
    assert (count.passage_count, count.clean_passage_count) == (2, 1)
