"""Samples are stored under a digest of everything that they depend on."""

import pytest

from benchmarks._harness.sample_store import SampleStore, digest_of


def test_sample_store_gives_samples_of_the_digest_alone(tmp_path):
    SampleStore(tmp_path / "a.jsonl").add("one", {"scheme": "none", "index": 0})
    store = SampleStore(tmp_path / "a.jsonl")
    assert store.samples("one") == [{"digest": "one", "scheme": "none", "index": 0}]
    assert store.samples("other") == []


def test_sample_store_add_returns_the_sample_as_it_is_given_later(tmp_path):
    store = SampleStore(tmp_path / "folder" / "a.jsonl")
    assert store.add("one", {"text": "naïve"}) == store.samples("one")[0]
    assert SampleStore(tmp_path / "folder" / "a.jsonl").samples("one") == store.samples("one")


@pytest.mark.parametrize("last_line", ['{"digest": "one", "ind', "[1]", "7", "", "\n\n"])
def test_sample_store_ignores_a_line_that_is_no_sample(tmp_path, last_line):
    file = tmp_path / "a.jsonl"
    SampleStore(file).add("one", {"index": 0})
    file.write_text(file.read_text() + last_line)
    SampleStore(file).add("one", {"index": 1})
    assert [sample["index"] for sample in SampleStore(file).samples("one")] == [0, 1]


def test_a_line_may_be_cut_at_any_byte(tmp_path):
    whole, other = tmp_path / "whole.jsonl", tmp_path / "cut.jsonl"
    SampleStore(whole).add("one", {"text": "今日は é"})
    data = whole.read_bytes()
    for size in range(len(data)):
        other.write_bytes(data + data[:size])
        SampleStore(other).add("one", {"index": 1})
        kept = SampleStore(other).samples("one")
        # All but the line's end may be there: then the sample is whole.
        assert [len(sample) for sample in kept] == [2] * (2 + (size == len(data) - 1))
        assert kept[-1]["index"] == 1


def test_digest_of_differs_when_any_part_differs():
    parts = [({"a": 1}, "x"), ({"a": 2}, "x"), ({"a": 1}, "y"), ({"a": 1},)]
    assert len({digest_of(*some) for some in parts}) == len(parts)


def test_digest_of_is_the_same_when_keys_come_in_another_order():
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
