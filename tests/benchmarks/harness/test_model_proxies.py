"""Proxies of a model compute what the model computes."""

import numpy as np

from benchmarks._harness.slow_model import SlowModel
from benchmarks._harness.timed_model import TimedModel
from tests.support.toy_models import ToyModel, ToyTokenizer

MODEL = ToyModel(ToyTokenizer(["", "a", "b", "ab"]))


def assert_is_like_the_model(proxy):
    assert (proxy.tokenizer, proxy.digest()) == (MODEL.tokenizer, MODEL.digest())
    assert (proxy.logit_width, proxy.eos_ids) == (MODEL.logit_width, MODEL.eos_ids)
    assert np.array_equal(proxy.score([1, 2]), MODEL.score([1, 2]))
    decoder = proxy.start([1])
    decoder.push(2)
    decoder.push(3)
    assert list(decoder.ids) == [1, 2, 3]
    assert np.array_equal(decoder.logits(), MODEL.logits_after([1, 2, 3]))
    decoder.rewind(1)
    assert list(decoder.ids) == [1, 2]


def test_slow_model_reads_each_token_several_times(monkeypatch):
    reads = []
    inner = type(MODEL.start([1]))
    original = inner.push
    monkeypatch.setattr(inner, "push", lambda self, t: (reads.append(t), original(self, t)))
    assert_is_like_the_model(SlowModel(MODEL, 3))
    assert reads == [2, 2, 2, 3, 3, 3]


def test_timed_model_counts_the_seconds_of_each_call(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("benchmarks._harness.timing.time.perf_counter", lambda: next(clock))
    model = TimedModel(MODEL)
    assert_is_like_the_model(model)
    assert model.seconds == 5  # start, two pushes, logits, rewind
