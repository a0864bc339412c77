"""Texts to measure on."""

import gzip
import random

import pytest

from benchmarks._harness.corpora import load_corpora, passage
from ticore.errors import FileError


@pytest.mark.parametrize("text", ["one\ntwo\nthree\n" * 30, "short\n"])
def test_passage_starts_with_a_line_and_is_long_enough(text):
    draw = random.Random(1)
    for _ in range(50):
        found = passage(text, 40, draw)
        assert len(found) == 40
        assert found.startswith(tuple(text.split()))


def test_load_corpora_reads_files_of_several_kinds(tmp_path):
    lines, plain, packed = (tmp_path / name for name in ("a.jsonl", "b.txt", "c.txt.gz"))
    lines.write_text('{"id": "7", "prefix": "be", "rest": "gin"}\n{"text": "end"}\n{"te')
    plain.write_text("naïve\n", encoding="utf-8")
    packed.write_bytes(gzip.compress(b"packed"))
    found = load_corpora([lines, plain, packed], None)
    assert found == {"a.jsonl": "begin\nend", "b.txt": "naïve\n", "c.txt.gz": "packed"}


def test_load_corpora_prefers_the_data_folder_to_bundled_texts(tmp_path):
    (tmp_path / "corpora" / "zh").mkdir(parents=True)
    (tmp_path / "corpora" / "zh" / "cmrc2018_contexts.txt").write_text("天", encoding="utf-8")
    found = load_corpora([], tmp_path, ("Chinese", "code"))
    assert list(found) == ["Chinese", "code"]
    assert found["Chinese"] == "天"


def test_load_corpora_raises_when_a_file_cannot_be_read(tmp_path):
    with pytest.raises(FileError, match="expected a UTF-8 text in"):
        load_corpora([tmp_path / "missing"], None)
