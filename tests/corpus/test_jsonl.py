"""Lines keep every byte, and each line without a text gets an error."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import pytest

from ticore.corpus import COLUMNS, Result
from ticore.corpus import _jsonl as module
from ticore.corpus._base import Problem
from ticore.corpus._jsonl import JsonlCorpus, JsonlWriter
from ticore.errors import FileError


def corpus(
    tmp_path: Path, data: bytes, batch_size: int = 100, limit: int | None = None
) -> JsonlCorpus:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    return JsonlCorpus(path, "text", batch_size, limit)


def texts(found: JsonlCorpus) -> list[object]:
    return [
        text.error if isinstance(text, Problem) else text
        for batch in found.batches()
        for text in batch.texts
    ]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"", "expected a JSON object, found an empty line"),
        (b"  ", "found an empty line"),
        (b"{broken", "expected a JSON object: Expecting property name"),
        (b'{"text": "a"} {}', "Extra data at character 14"),
        (b"[1]", "expected a JSON object, found an array"),
        (b"null", "found null"),
        (b'"text"', "found text"),
        (b"1" * 9000, "a number that is too long"),
        (b"[" * 200_000, "too many levels"),
        (b'{"text": "\xff"}', "expected UTF-8, found an invalid byte at 10"),
        ('{"text": "a"}'.encode("utf-16"), "expected UTF-8"),
        (b'{"text": null}', "expected text, found null"),
        (b'{"text": 1}', "expected text, found a number"),
        (b'{"text": true}', "expected text, found a truth value"),
        (b'{"text": ["a"]}', "expected text, found an array"),
        (b'{"text": {}}', "expected text, found an object"),
        (b'{"a": 1}', "no column 'text'"),
    ],
)
def test_batch_says_why_a_line_has_no_text(tmp_path: Path, line: bytes, error: str) -> None:
    found = texts(corpus(tmp_path, b'{"text": "x"}\n' + line + b'\n{"text": "y"}'))
    assert found[0::2] == ["x", "y"]
    assert str(found[1]).startswith("line 2: ")
    assert error in str(found[1])


def test_line_that_is_too_long_is_an_error_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_BYTES", 20)
    data = b'{"text": "' + b"x" * 100 + b'"}\n{"text": "y"}\n' + b"z" * 21
    expected = "expected at most 20 bytes, found more"
    assert texts(corpus(tmp_path, data)) == [f"line 1: {expected}", "y", f"line 3: {expected}"]


def test_corpus_gives_all_rows_in_batches_up_to_the_limit(tmp_path: Path) -> None:
    data = b"".join(b'{"text": "%d"}\r\n' % n for n in range(5))
    found = corpus(tmp_path, b"\xef\xbb\xbf" + data, batch_size=2)
    batches = list(found.batches())
    assert [list(batch.texts) for batch in batches] == [["0", "1"], ["2", "3"], ["4"]]
    assert batches[-1].done == found.total == len(data) + 3
    assert texts(corpus(tmp_path, data, 2, limit=3)) == ["0", "1", "2"]
    assert texts(corpus(tmp_path, b"")) == []


def test_writer_keeps_every_byte_of_a_line(tmp_path: Path) -> None:
    lines = [
        b'{"text": "\\u00e9\xc3\xa9", "n": 1.50, "big": 12345678901234567890123, "n": 2}',
        b"{}",
    ]
    found = corpus(tmp_path, b"\n".join([*lines, b"broken"]))
    file = BytesIO()
    writer = JsonlWriter(file)
    for batch in found.batches():
        writer.write(
            batch, [Result(verdict="watermarked", p_value=1e-9), Result(), Result(error="é")]
        )
    writer.close()
    first, second, third = file.getvalue().splitlines()
    assert first.startswith(lines[0][:-1] + b', "verdict": "watermarked", "p_value": 1e-09, ')
    assert list(json.loads(second)) == list(COLUMNS)
    assert list(json.loads(third)) == ["raw", *COLUMNS]
    assert json.loads(third)["error"] == "é"


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (b"{broken", {"raw": "{broken"}),
        (b' ["\\ud800", "\xc3\xa9\x00"] \r', {"raw": ' ["\\ud800", "é\0"] '}),
        (b"null", {"raw": "null"}),
        (b"[" * 200_000, {"raw": "[" * 200_000}),
        (b'{"text": "\xff"}', {"raw_base64": "eyJ0ZXh0IjogIv8ifQ=="}),
        (b" \r", {}),
    ],
)
def test_writer_keeps_the_content_of_a_line_that_is_not_an_object(
    tmp_path: Path, line: bytes, kept: dict[str, str]
) -> None:
    found = corpus(tmp_path, line + b'\n{"text": "a"}\n')
    (batch,) = found.batches()
    file = BytesIO()
    JsonlWriter(file).write(batch, [Result(error="a\ud800")] * 2)
    first, second = (json.loads(line) for line in file.getvalue().splitlines())
    assert first == kept | Result(error="a\ud800")._asdict()
    assert second["text"] == "a"


def test_corpus_refuses_a_column_that_no_object_has_when_a_line_is_broken(tmp_path: Path) -> None:
    """`raw`, which holds a broken line, does not count as a column of the file."""
    found = corpus(tmp_path, b'broken\n{"a": 1}\n')
    with pytest.raises(FileError, match="expected a column 'text', found 'a';"):
        texts(found)


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b'{"a": 1, "b": 2}\n{"a": 2}\n', "expected a column 'text', found 'a', 'b'"),
        (b'{"text": "a", "p_value": 1}', "a.jsonl, line 1: expected no column 'p_value'"),
    ],
)
def test_corpus_refuses_a_missing_column_and_a_column_of_results(
    tmp_path: Path, data: bytes, part: str
) -> None:
    with pytest.raises(FileError, match=part):
        texts(corpus(tmp_path, data))


def test_line_with_a_column_of_results_is_a_problem_after_the_first_batch(tmp_path: Path) -> None:
    """Such as a key that few lines have: the work for all others is not lost."""
    found = corpus(tmp_path, b'{"text": "a"}\n{"text": "b", "error": 1}\n', batch_size=1)
    assert texts(found) == [
        "a",
        "line 2: expected no column 'error', which the scan adds; rename it first, give "
        "--results-only, or leave the file out if a scan has written it",
    ]
    assert [json.loads(line) for batch in found.batches() for line in batch.objects()] == [
        {"text": "a"},
        {"raw": '{"text": "b", "error": 1}'},
    ]


def test_corpus_refuses_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        with pytest.raises(FileError, match="cannot read"):
            JsonlCorpus(path, "text", 10)
    with pytest.raises(FileError, match="no file can have this name"):
        JsonlCorpus(tmp_path / "a\0b", "text", 10)


MIXED = [
    b'\xef\xbb\xbf {"text": "a"} \r\n',
    b'{"text": "b", "x": 1.50}\n',
    b"broken\n",
    b'{"text": "c"}',
]


@pytest.mark.parametrize("is_parsed_first", [False, True])
def test_rows_are_written_alike_whether_they_were_parsed_before(
    tmp_path: Path, is_parsed_first: bool
) -> None:
    found = corpus(tmp_path, b"".join(MIXED), batch_size=2)
    if is_parsed_first:
        assert len(texts(found)) == 4
    assert [line for batch in found.batches() for line in batch.objects()] == [
        b'{"text": "a"}',
        b'{"text": "b", "x": 1.50}',
        b'{"raw": "broken"}',
        b'{"text": "c"}',
    ]


def test_a_second_byte_order_mark_is_not_written_as_it_is(tmp_path: Path) -> None:
    twice = corpus(tmp_path, b'\xef\xbb\xbf\xef\xbb\xbf{"text": "a"}\n{"text": "b"}')
    first, second = texts(twice)
    assert "expected a JSON object" in first
    assert second == "b"
    written = [line for batch in twice.batches() for line in batch.objects()]
    assert [json.loads(line) for line in written] == [
        {"raw": '\ufeff\ufeff{"text": "a"}'},
        {"text": "b"},
    ]


def test_rows_that_were_parsed_are_not_parsed_again_to_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = corpus(tmp_path, b'{"text": "a"}\n' * 5, batch_size=2)
    assert texts(found) == ["a"] * 5
    parsed = []

    def parse(line: str) -> dict[str, object]:
        parsed.append(line)
        return {"text": line}

    monkeypatch.setattr(module, "parse_object", parse)
    assert [*(line for batch in found.batches() for line in batch.objects())] == [
        b'{"text": "a"}'
    ] * 5
    assert len(parsed) == 2  # of the first batch, whose columns are looked at


def test_a_file_that_became_another_is_parsed_again(tmp_path: Path) -> None:
    found = corpus(tmp_path, b'{"text": "a"}\n')
    assert texts(found) == ["a"]
    (before,) = (batch.digest for batch in found.batches())
    (tmp_path / "a.jsonl").write_bytes(b'"text": "a"}!\n')
    (batch,) = found.batches()
    assert batch.digest != before
    assert list(batch.objects()) == [rb'{"raw": "\"text\": \"a\"}!"}']
