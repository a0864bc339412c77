"""Samples are kept under a digest of all that they depend on."""

from pathlib import Path

from benchmarks.kept import Kept, code_digest, digest_of


def test_other_settings_are_other_samples(tmp_path):
    Kept(tmp_path / "a.jsonl", "one").add({"scheme": "none", "index": 0})
    assert len(Kept(tmp_path / "a.jsonl", "one").rows) == 1
    assert Kept(tmp_path / "a.jsonl", "other").rows == []


def test_a_line_that_was_cut_off_counts_for_nothing(tmp_path):
    file = tmp_path / "a.jsonl"
    Kept(file, "one").add({"index": 0})
    file.write_text(file.read_text() + file.read_text()[:9])
    Kept(file, "one").add({"index": 1})
    assert [row["index"] for row in Kept(file, "one").rows] == [0, 1]


def test_digests_differ_with_each_part():
    parts = [({"a": 1}, "x"), ({"a": 2}, "x"), ({"a": 1}, "y"), ({"a": 1},)]
    assert len({digest_of(*some) for some in parts}) == len(parts)
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})


def test_code_is_what_files_hold(tmp_path: Path):
    file = tmp_path / "plan.py"
    file.write_text("a = 1")
    before = code_digest(["errors.py"], file)
    assert code_digest(["errors.py"], file) == before
    assert code_digest(["errors.py", "codecs"], file) != before
    file.write_text("a = 2")
    assert code_digest(["errors.py"], file) != before
