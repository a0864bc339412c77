"""A slowed model reads as often as it is told, and computes the same."""

import numpy as np

from benchmarks.slowed import Slowed
from tests.models import ToyModel, ToyTokenizer

MODEL = ToyModel(ToyTokenizer(["", "a", "b", "ab"]))


def test_reads_each_token_so_often(monkeypatch):
    reads = []
    decoder = Slowed(MODEL, 3).start([1])
    inner = type(MODEL.start([1]))
    original = inner.push
    monkeypatch.setattr(inner, "push", lambda self, t: (reads.append(t), original(self, t)))
    decoder.push(2)
    decoder.push(3)
    assert reads == [2, 2, 2, 3, 3, 3]
    assert list(decoder.ids) == [1, 2, 3]
    assert np.array_equal(decoder.logits(), MODEL.logits_after([1, 2, 3]))
    decoder.rewind(1)
    assert list(decoder.ids) == [1, 2]
