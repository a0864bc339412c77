"""A scan for drift finds what `compare` finds, in every row, and refuses rows without ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ticore
from ticore.consistency import Comparison
from ticore.corpus import (
    EXECUTORS,
    DriftResult,
    DriftSummary,
    DriftTask,
    RolloutColumns,
    Scan,
    scan_drift,
)
from ticore.corpus import _processes as processes
from ticore.corpus._scan import scan_one
from ticore.errors import InputFileError, SettingsError
from ticore.interfaces import ChatTemplate

TASK = DriftTask("tiny-en")
TOKENIZER = ticore.load_tokenizer("tiny-en")
SPLIT = [377, 1116, 318, 278, 705, 281, 1010, 4033]  # " cold" as " c" and "old"
WRONG: list[dict[str, Any]] = [
    {"ids": None},
    {"ids": [1, 2.5]},
    {"ids": [True]},
    {"ids": [2**70]},
    {"ids": [-1]},
    {"ids": [TOKENIZER.vocab_size]},
    {"ids": "12"},
    {"other": 1},
]


def rows() -> list[dict[str, Any]]:
    texts = ["It was late.", "", "naïve café", "She said so; it was a cold morning."]
    good = [{"ids": [1, *TOKENIZER.encode(text), 2], "n": n} for n, text in enumerate(texts)]
    return [*good, {"ids": SPLIT}, {"ids": []}, {"ids": [2, *SPLIT, 1, *SPLIT]}, *good]


def write(path: Path, given: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in given))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def given(tmp_path: Path) -> Scan:
    source = write(tmp_path / "rows.jsonl", rows())
    return Scan(source, RolloutColumns(), tmp_path / "out.jsonl", batch_size=4)


def test_drift_is_what_compare_finds(given: Scan) -> None:
    summary = scan_drift(given, TASK, workers=1)
    for row, written in zip(rows(), read(given.output), strict=True):
        found = ticore.compare(TOKENIZER, row["ids"])
        assert written["drift_consistent"] == found.consistent
        assert written["drift_cause"] == found.cause
        counts = written["drift_tokens"], written["drift_sits"], written["drift_cits"]
        assert counts == (len(found.ids), len(found.sits), len(found.cits))
        assert {name: written[name] for name in row} == row
    assert (summary.rows, summary.drifted, summary.consistent, summary.errors) == (11, 2, 9, 0)
    assert summary.causes["bpe"] == 2
    assert [(one.row, one.differing) for one in summary.worst] == [(7, 6), (5, 3)]
    assert (summary.rate, summary.differing) == (2 / 11, 9)
    worst = summary.worst[1].result
    assert (worst.drift_at, worst.drift_ids, worst.drift_again) == (3, "278 705", "1583")
    assert json.loads(json.dumps(summary.to_dict()))["worst"][0]["row"] == 7


def test_sum_of_several_scans_is_the_scan_of_all_their_rows(given: Scan, tmp_path: Path) -> None:
    parts = {}
    for name, some in {"a": rows()[:6], "b": [*rows()[6:], *WRONG]}.items():
        source = write(tmp_path / f"{name}.jsonl", some)
        one = replace(given, source=source, output=tmp_path / f"{name}.out.jsonl")
        parts[name] = scan_one(one, TASK, workers=1, one_of_many=True)
        assert scan_one(one, TASK, one_of_many=True) == parts[name]  # as it was kept
    found = DriftSummary.of(parts)
    write(given.source, [*rows(), *WRONG])
    expected = scan_drift(given, TASK, workers=1)
    assert found.first_error == parts["b"].first_error
    assert [one.result for one in found.worst] == [one.result for one in expected.worst]
    assert [(one.file, one.row) for one in found.worst] == [("b", 1), ("a", 5)]
    same = {"worst": (), "first_error": None}
    assert replace(found, **same) == replace(expected, **same)
    assert [one["file"] for one in found.to_dict()["worst"]] == ["b", "a"]


def test_rows_without_ids_are_counted_and_explained(given: Scan) -> None:
    with given.source.open("a") as file:
        file.writelines(json.dumps(row) + "\n" for row in WRONG)
        file.write("[1]\nnot json\n")
    summary = scan_drift(given, TASK, workers=1)
    assert (summary.rows, summary.errors, summary.drifted) == (21, 10, 2)
    errors = [row["drift_error"] for row in read(given.output)[11:]]
    for said, part in zip(
        errors,
        (
            "line 12: expected a list of token ids, found null",
            "found a number in it",
            "found a truth value in it",
            "beyond 64 bits",
            "expected token ids from 0",
            "expected token ids from 0",
            "line 18: expected a list of token ids, found text",
            "no column 'ids'",
            "found an array",
            "expected a JSON object",
        ),
        strict=True,
    ):
        assert part in said


def test_what_was_read_again_is_compared_with_its_cause(tmp_path: Path) -> None:
    ids = [1, *TOKENIZER.encode("It was late. "), 2]
    cases: list[tuple[Any, str | None]] = [
        (ids, None),
        ([1, *TOKENIZER.encode("It was late."), 2], "strip"),
        ([*ids[:-1], 1], "special token"),
        ([*ids, 1], "special token"),
        ([1, *TOKENIZER.encode("It was early."), 2], "template"),
        ("It was early.", "template"),
    ]
    given = [{"ids": ids, "trainer": again} for again, _ in cases]
    source = write(tmp_path / "a.jsonl", [*given, {"ids": ids, "trainer": None}])
    scan = Scan(source, RolloutColumns("ids", "trainer"), tmp_path / "b.jsonl")
    assert scan_drift(scan, TASK, workers=1).errors == 1
    found = read(scan.output)
    # A template that begins without the start token, too.
    causes = [row["drift_cause"] for row in found[:-2]]
    assert causes == [cause for _, cause in cases][:-1]
    assert found[-2]["drift_cause"] in ("template", "special token")


TEMPLATE = ChatTemplate("{% for m in messages %}{{ m.content or tools | length }}{% endfor %}")
SAID: list[tuple[Any, Any, str | None]] = [
    ([{"role": "user", "content": "It was late."}], None, None),
    ([{"role": "user", "content": "It was early."}], [], "template"),
    ([{"role": "user", "content": None}], [{"name": "f"}], "template"),
]
WRONG_MESSAGES: list[tuple[Any, Any, str]] = [
    (None, None, "expected a list of messages, found null"),
    ("no json", None, "expected messages in JSON"),
    ("{}", None, "expected a list of messages, found an object"),
    ("[]", None, "expected at least one message"),
    ('[{"content": "It"}]', None, "expected a message with the field role"),
    ('[{"role": "user", "content": "It"}]', "1", "expected a list of tools, found a number"),
    ('[{"role": "user"}]', None, "TypeError"),
]


def test_shares_are_of_both_lists(given: Scan) -> None:
    """Three tokens that are read back as one differ four times, which is more than there were."""
    given.source.write_text('{"ids": [273, 4015, 4020, 4016, 4018, 4016, 4029]}\n')
    found = scan_drift(given, TASK, workers=1)
    assert found.differing == found.tokens + found.tokens_again == 8
    assert found.token_rate == found.to_dict()["token_rate"] == 1.0


@pytest.mark.parametrize("ids", [[[377, 1116], [705, 281]], [[1, 2], None]])
def test_parquet_lists_of_one_size_are_lists(given: Scan, ids: list[list[int] | None]) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    found = {}
    for kind in (pa.list_(pa.int64(), 2), pa.list_(pa.int64())):
        source, output = given.source.with_suffix(".parquet"), given.output.with_suffix(".parquet")
        pq.write_table(pa.table({"ids": pa.array(ids, type=kind)}), source)
        scan_drift(replace(given, source=source, output=output), TASK, workers=1)
        results = pq.read_table(output).to_pylist()
        found[kind] = [{name: row[name] for name in DriftResult._fields} for row in results]
        output.unlink()
    fixed, usual = found.values()
    assert fixed == usual


def test_numbers_beyond_64_bits_are_refused_as_such(given: Scan) -> None:
    """As int64 the largest uint64 would be -1."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    source, output = given.source.with_suffix(".parquet"), given.output.with_suffix(".parquet")
    pq.write_table(pa.table({"ids": pa.array([[2**64 - 1, 2]], pa.list_(pa.uint64()))}), source)
    scan_drift(replace(given, source=source, output=output), TASK, workers=1)
    [row] = pq.read_table(output).to_pylist()
    assert "found a number beyond 64 bits" in row["drift_error"]


def test_messages_are_written_by_the_template(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    ids = TOKENIZER.encode("It was late.")
    each = [*SAID, *((json.dumps(messages), tools, cause) for messages, tools, cause in SAID)]
    given = [{"ids": ids, "said": said, "tools": tools} for said, tools, _ in each]
    wrong = [{"ids": ids, "said": said, "tools": tools} for said, tools, _ in WRONG_MESSAGES]
    source = write(tmp_path / "a.jsonl", [*given, *wrong])
    columns = RolloutColumns("ids", None, "said", "tools")
    scan = Scan(source, columns, tmp_path / "b.jsonl", batch_size=4)
    summary = scan_drift(scan, replace(TASK, template=TEMPLATE), workers=1)
    found = read(scan.output)
    assert [row["drift_cause"] for row in found[: len(each)]] == [cause for *_, cause in each]
    errors = [row["drift_error"] or "" for row in found[len(each) :]]
    for said, (_, _, part) in zip(errors, WRONG_MESSAGES, strict=True):
        assert part in said
    assert (summary.errors, summary.drifted) == (len(WRONG_MESSAGES), 4)
    # Another template is another scan: nothing that was saved is taken for its results.
    other = ChatTemplate("It was early." + TEMPLATE.source)
    assert scan_drift(scan, replace(TASK, template=other), workers=1).drifted == 6


def test_messages_in_parquet_have_no_fields_of_other_rows(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="jinja2 is not installed")
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    calls = [{"role": "assistant", "content": None, "calls": [{"name": "f"}, {"id": 1}]}]
    plain = [{"role": "user", "content": "It was late."}]
    shown = "{{ messages | tojson }}"
    texts = [f"{json.dumps(said)}" for said in (calls, plain)]
    rows = {"ids": [TOKENIZER.encode(text) for text in texts], "said": [calls, plain]}
    source = tmp_path / "a.parquet"
    task, columns = replace(TASK, template=ChatTemplate(shown)), RolloutColumns(messages="said")
    for kind in (None, pa.string(), pa.binary(), pa.dictionary(pa.int32(), pa.string())):
        said = pa.array(rows["said"]) if kind is None else pa.array(texts).cast(kind)
        pq.write_table(pa.table({"ids": rows["ids"], "said": said}), source)
        summary = scan_drift(Scan(source, columns, tmp_path / "b.jsonl"), task, workers=1)
        assert (summary.rows, summary.consistent) == (2, 2)
    bad = pa.array([None, texts[0].encode()[:-1] + b"\xff"])
    invalid = pa.StringArray.from_buffers(2, *bad.buffers()[1:], bad.buffers()[0])
    pq.write_table(pa.table({"ids": rows["ids"], "said": invalid}), source)
    scan_drift(Scan(source, columns, tmp_path / "b.jsonl"), task, workers=1)
    errors = [row["drift_error"] for row in read(tmp_path / "b.jsonl")]
    assert "expected a list of messages, found null" in errors[0]
    assert "expected UTF-8 text, found an invalid byte" in errors[1]
    pq.write_table(pa.table({"ids": rows["ids"], "said": [1, 2]}), source)
    with pytest.raises(InputFileError, match="expected lists of objects, or text in JSON"):
        scan_drift(Scan(source, columns, tmp_path / "b.jsonl"), task, workers=1)


def test_messages_and_their_template_come_together(given: Scan) -> None:
    with pytest.raises(SettingsError, match="found one without the other"):
        scan_drift(given, replace(TASK, template=TEMPLATE))
    with pytest.raises(SettingsError, match="found one without the other"):
        scan_drift(replace(given, column=RolloutColumns(messages="said")), TASK)
    with pytest.raises(SettingsError, match="found both"):
        scan_drift(replace(given, column=RolloutColumns("ids", "trainer", "said")), TASK)


@pytest.mark.parametrize("reread", [None, "trainer"])
def test_tools_without_messages_are_refused(given: Scan, reread: str | None) -> None:
    columns = RolloutColumns("ids", reread, tools="tools")
    with pytest.raises(SettingsError, match=r"tools: expected a column of messages as well, found"):
        scan_drift(replace(given, column=columns), TASK)


def test_parquet_gives_what_json_lines_give(given: Scan) -> None:
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    scan_drift(given, TASK, workers=1)
    expected = [{n: row[n] for n in DriftResult._fields} for row in read(given.output)]
    lists = [row["ids"] for row in rows()]
    for kind in (pa.list_(pa.int32()), pa.large_list(pa.uint64())):
        table = pa.table({"ids": pa.array([*lists, None, [1, None]], type=kind)})
        source, output = given.source.with_suffix(".parquet"), given.output.with_suffix(".parquet")
        pq.write_table(table, source)
        scan = replace(given, source=source, output=output)
        assert scan_drift(scan, TASK, workers=1).errors == 2
        found = pq.read_table(output).to_pylist()
        assert [{n: row[n] for n in DriftResult._fields} for row in found[:-2]] == expected
        assert "row 12: expected a list of token ids, found null" in found[-2]["drift_error"]
        assert "found null in it" in found[-1]["drift_error"]
    pq.write_table(pa.table({"ids": ["1 2"]}), source)
    with pytest.raises(InputFileError, match=r"expected lists of integers in column 'ids'.*--ids"):
        scan_drift(scan, TASK, workers=1)


def test_an_interrupted_scan_goes_on(given: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    scan_drift(given, TASK, workers=1)
    expected = given.output.read_bytes()
    given.output.unlink()

    def interrupted(task: Any, texts: Any, workers: Any, tell: Any) -> Iterator[Any]:
        for number, results in enumerate(processes.processes(task, texts, 1)):
            if number == 2:
                raise KeyboardInterrupt
            yield results

    monkeypatch.setitem(EXECUTORS, "interrupted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scan_drift(given, TASK, executor="interrupted")
    said: list[str] = []
    marks: list[int] = []
    scan_drift(
        given, TASK, workers=1, tell=said.append, progress=lambda done, _: marks.append(done)
    )
    assert (said, len(marks)) == (["going on: 2 batches were scanned before"], 1)
    assert given.output.read_bytes() == expected


@pytest.mark.slow
def test_workers_find_what_one_process_finds(given: Scan) -> None:
    expected = scan_drift(given, TASK, workers=1)
    before = given.output.read_bytes()
    assert scan_drift(given, TASK, executor="processes", workers=2) == expected
    assert given.output.read_bytes() == before


def test_a_column_of_texts_is_refused(given: Scan) -> None:
    with pytest.raises(SettingsError, match="expected RolloutColumns"):
        scan_drift(replace(given, column="ids"), TASK)
    with pytest.raises(InputFileError, match=r"expected a column 'tokens'.*--ids NAME"):
        scan_drift(replace(given, column=RolloutColumns("tokens")), TASK, workers=1)


def test_a_text_is_compared_with_the_ids_it_was_read_as() -> None:
    found = ticore.compare(TOKENIZER, SPLIT, reread="The morning was cold and dark.")
    assert isinstance(found, Comparison)
    assert found.cause == "bpe"
