"""A scan writes what the detector finds in each row, and goes on where it stopped."""

from __future__ import annotations

import gzip
import json
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any, cast

import numpy as np
import pytest

import ticore
from ticore.corpus import EXECUTORS, AnyTask, Result, Scan, Summary, Task, default_output, scan
from ticore.corpus import _jsonl as jsonl
from ticore.corpus import _processes as processes
from ticore.corpus._base import CorpusText
from ticore.corpus._scan import scan_one
from ticore.errors import (
    FileError,
    InputFileError,
    MissingExtraError,
    SettingsError,
    TicoreError,
    WrongTypeError,
)
from ticore.schemes import SCHEMES
from ticore.schemes._registry import ALL_SCHEMES

KEY = bytes(range(32))
TASK = Task("tiny-en", "left_hash", KEY)
WORDS = ["it", "was", "a", "cold", "morning", "and", "nobody", "had", "thought", "of", "wood"]


def rows(count: int) -> list[dict[str, object]]:
    return [{"text": " ".join(WORDS[n % 7 :] * 2), "id": n} for n in range(count)]


def write(path: Path, given: Sequence[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in given))
    return path


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def given(tmp_path: Path) -> Scan:
    source = write(tmp_path / "rows.jsonl", rows(10))
    return Scan(source, "text", tmp_path / "out.jsonl", batch_size=3)


def test_scan_writes_the_detectors_result_beside_each_row(given: Scan) -> None:
    write(given.source, [*rows(4), {"text": None}, {"text": "a"}, {"text": "a\ud800"}])
    marks: list[tuple[int, int]] = []
    found = scan(given, TASK, workers=1, progress=lambda *mark: marks.append(mark))
    counts = {"rows": 7, "watermarked": 0, "in_part": 0, "without": 4, "errors": 3}
    assert found == Summary(
        **counts, bands=found.bands, first_error="line 5: expected text, found null"
    )
    assert [band.by_chance for band in found.bands if band.threshold == TASK.fpr] == [4e-5]
    detector = TASK.open()
    for row, written in zip(rows(4), read(given.output), strict=False):
        expected = Result.of(detector.detect(str(row["text"])))
        assert written == row | expected._asdict()
    errors = [str(row["error"]) for row in read(given.output)[4:]]
    assert "line 5: expected text, found null" in errors[0]
    assert "expected a text of more than 1 tokens" in errors[1]
    assert "lone surrogate" in errors[2]
    assert all(row["p_value"] is None for row in read(given.output)[4:])
    assert [done == total for done, total in marks] == [False, False, True]
    assert {path.name for path in given.output.parent.iterdir()} == {"rows.jsonl", "out.jsonl"}


def test_scan_searches_for_the_writers_tokens(given: Scan) -> None:
    task = replace(TASK, scheme="gumbel", tokenizations="search")
    scan(given, task, workers=1)
    detector = task.open()
    for row, written in zip(rows(10), read(given.output), strict=True):
        expected = detector.detect(str(row["text"]))
        assert written == row | Result.of(expected)._asdict()
        check = expected.tokenizations
        assert check is not None
        assert check.tried is not None
        assert written["p_value"] <= min(1, 2 * check.p_value_read) * (1 + 1e-9)


def test_summary_counts_watermarked_rows(given: Scan) -> None:
    writer = ticore.Watermarker(ticore.load_model("tiny-en"), "gumbel", key=KEY, seed=1)
    write(given.source, [{"text": writer.generate("It was", max_new_tokens=30).text}, *rows(2)])
    found = scan(given, replace(TASK, scheme="gumbel"), workers=1)
    assert (found.watermarked, found.without) == (1, 2)


def test_scan_reads_and_writes_every_format(given: Scan, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    scan(given, TASK, workers=1)
    there = replace(given, output=tmp_path / "out.parquet")
    scan(there, TASK, workers=1)
    again = replace(given, source=tmp_path / "in.parquet", output=tmp_path / "back.jsonl")
    pq.write_table(pq.read_table(there.output).select(["text", "id"]), again.source)
    scan(again, TASK, workers=1)
    assert read(again.output) == read(given.output)
    assert pq.read_table(there.output).to_pylist() == read(given.output)


def test_scan_reads_and_writes_packed_lines(given: Scan, tmp_path: Path) -> None:
    scan(given, TASK, workers=1)
    data = given.source.read_bytes()
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(data[:100]) + gzip.compress(data[100:]))  # as `cat a b` gives
    there = replace(given, source=packed, output=default_output(packed))
    progress: list[tuple[int, int]] = []
    scan(there, TASK, workers=1, progress=lambda *far: progress.append(far))
    assert there.output.name == "rows.detected.jsonl.gz"
    assert gzip.decompress(there.output.read_bytes()) == given.output.read_bytes()
    assert progress[-1] == (packed.stat().st_size, packed.stat().st_size)
    first = there.output.read_bytes()
    scan(there, TASK, workers=1)
    assert there.output.read_bytes() == first  # no time of day in it
    scan(replace(there, output=tmp_path / "plain.jsonl"), TASK, workers=1)
    assert (tmp_path / "plain.jsonl").read_bytes() == given.output.read_bytes()


@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz", "parquet"])
def test_progress_of_a_limited_scan_ends_at_its_total(
    given: Scan, tmp_path: Path, ending: str
) -> None:
    source = tmp_path / f"in.{ending}"
    if ending == "parquet":
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        pytest.importorskip("pyarrow.parquet").write_table(pa.table({"text": ["a"] * 10}), source)
    else:
        data = given.source.read_bytes()
        source.write_bytes(gzip.compress(data) if ending.endswith("gz") else data)
    progress: list[tuple[int, int]] = []
    limited = replace(given, source=source, limit=4)
    scan(limited, TASK, workers=1, progress=lambda *far: progress.append(far))
    assert len(progress) == 2
    assert progress[-1][0] == progress[-1][1]


@pytest.mark.parametrize("text", [7, "a", "It was\ud800 a cold morning."])
def test_first_error_names_its_row(given: Scan, text: object) -> None:
    write(given.source, [*rows(7), {"text": text}, *rows(2), {"text": None}])
    found = scan(given, TASK, workers=1)
    assert found.errors == 2
    assert found.first_error is not None
    assert found.first_error.startswith(("line 8: ", "row 8: "))


@pytest.mark.parametrize("scheme", [*ALL_SCHEMES, "unversioned"])
def test_target_is_that_of_the_detector(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unversioned:
        def __init__(self, key: bytes, vocab_size: int) -> None:
            made = SCHEMES["gumbel"](key, vocab_size)
            self.context, self.null, self.evidence = made.context, made.null, made.evidence

    monkeypatch.setitem(cast(dict[str, Any], ALL_SCHEMES), "unversioned", Unversioned)
    task = Task("tiny-en", scheme, KEY)
    assert task.target == task.open().target
    assert task.version == (None if scheme == "unversioned" else 2)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda data: data[:-9], "expected more packed data, found the end of the file"),
        (lambda data: data[:40] + bytes(9) + data[49:], "cannot read .*rows.jsonl.gz: "),
        (gzip.decompress, "Not a gzipped file"),
        (lambda data: data[:-8] + bytes(4) + data[-4:], "CRC check failed"),
    ],
)
def test_scan_refuses_packed_lines_that_are_damaged(
    given: Scan, tmp_path: Path, change: Callable[[bytes], bytes], error: str
) -> None:
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(change(gzip.compress(given.source.read_bytes())))
    there = replace(given, source=packed, output=tmp_path / "out.jsonl.gz")
    with pytest.raises(InputFileError, match=error):
        scan(there, TASK, workers=1)
    assert not there.output.exists()


class Interrupted(Exception):
    pass


def interrupted(batches: int) -> object:
    """An executor that is interrupted after `count` batches."""

    def run(
        task: Task, texts: Iterable[Sequence[CorpusText]], workers: int | None, tell: object
    ) -> Iterator[list[Result]]:
        for number, results in enumerate(processes.processes(task, texts, 1)):
            if number == batches:
                raise Interrupted
            yield results

    return run


def stopped(given: Scan, monkeypatch: pytest.MonkeyPatch, batches: int = 2) -> None:
    monkeypatch.setitem(EXECUTORS, "interrupted", interrupted(batches))  # type: ignore[arg-type]  # stands in for one
    with pytest.raises(Interrupted):
        scan(given, TASK, executor="interrupted")
    assert not given.output.exists()


def counted(given: Scan, task: Task = TASK) -> tuple[int, list[str]]:
    """How many batches a scan still scored, and its sentences."""
    marks: list[int] = []
    said: list[str] = []
    scan(given, task, workers=1, progress=lambda done, _: marks.append(done), tell=said.append)
    return len(marks), said


def test_scan_goes_on_when_it_was_interrupted(given: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    scan(given, TASK, workers=1)
    expected = given.output.read_bytes()
    given.output.unlink()
    stopped(given, monkeypatch)
    assert counted(given) == (2, ["going on: 2 batches were scanned before"])
    assert given.output.read_bytes() == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        {"key": bytes(32)},
        {"fpr": 0.01},
        {"repeats": "all"},
        {"scheme": "unigram"},
        {"settings": {"gamma": 0.25}},
        {"settings": {"version": 1}},
        {"tokenizations": "search"},
    ],
)
def test_scan_starts_from_the_beginning_when_the_task_is_another(
    given: Scan, monkeypatch: pytest.MonkeyPatch, other: dict[str, object]
) -> None:
    stopped(given, monkeypatch)
    done, said = counted(given, replace(TASK, **other))  # type: ignore[arg-type]
    assert (done, len(said)) == (4, 1)
    assert "starting from the beginning" in said[0]


def test_settings_that_name_a_scan_stay_as_they_were_without_a_search() -> None:
    """Saved results of versions that knew no search are used."""
    assert TASK.public_settings() == {
        "tokenizer": "tiny-en",
        "scheme": "left_hash",
        "fpr": 1e-5,
        "repeats": "once",
        "settings": {},
    }


def test_saved_results_are_dropped_when_the_scheme_has_another_version(
    given: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the version is not given, and only the default version has changed."""
    with monkeypatch.context() as earlier:
        earlier.setattr(ticore.WatermarkDetector, "version", 1, raising=False)
        earlier.setattr(ticore.WatermarkDetector, "__setattr__", _but_the_version)
        stopped(given, monkeypatch)
    done, said = counted(given)
    assert (done, len(said)) == (4, 1)
    assert "starting from the beginning" in said[0]


def _but_the_version(detector: object, name: str, value: object) -> None:
    if name != "version":
        object.__setattr__(detector, name, value)


def test_scan_starts_from_the_beginning_when_input_or_batch_size_changed(
    given: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped(given, monkeypatch)
    os.utime(given.source, ns=(1, 1))
    assert counted(given)[0] == 4
    stopped(replace(given, output=given.output.with_name("b.jsonl")), monkeypatch)
    assert counted(replace(given, output=given.output.with_name("b.jsonl"), limit=4))[0] == 2


def test_scan_writes_the_key_to_no_file(given: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    stopped(given, monkeypatch)
    files = [path for path in given.output.parent.rglob("*") if path.is_file()]
    assert len(files) == 4
    for path in files:
        data = path.read_bytes()
        assert KEY not in data
        assert KEY.hex().encode() not in data.lower()
    assert KEY.hex() not in repr(TASK)
    assert repr(KEY) not in repr(TASK)


def test_scan_refuses_an_input_that_changes_during_it(given: Scan) -> None:
    with pytest.raises(FileError, match=r"to stay as they are .*found a change"):
        scan(given, TASK, workers=1, progress=lambda *_: os.utime(given.source, ns=(1, 1)))
    assert not given.output.exists()


def test_damaged_results_are_scanned_again(given: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    scan(given, TASK, workers=1)
    expected = given.output.read_bytes()
    given.output.unlink()
    stopped(given, monkeypatch, batches=3)
    parts = sorted(given.output.parent.rglob("00000*.json"))
    parts[0].write_text("[" + ", ".join(["[]"] * 3) + "]")  # as earlier versions wrote them
    parts[1].write_bytes(parts[1].read_bytes().replace(b"no watermark", b"a  watermark"))
    done, said = counted(given)
    assert done == 3
    assert said == [
        "going on: 3 batches were scanned before",
        "2 of these were scanned again: the saved results were damaged, of an earlier version, or "
        "of other texts",
    ]
    assert given.output.read_bytes() == expected


def test_scan_refuses_results_that_change_before_the_output_is_written(given: Scan) -> None:
    def damage(done: int, total: int) -> None:
        if done == total:
            next(given.output.parent.rglob("000000.json")).write_text("[[]]")

    with pytest.raises(FileError, match="the saved results to stay as they are"):
        scan(given, TASK, workers=1, progress=damage)
    assert not given.output.exists()
    scan(given, TASK, workers=1)


def changed_in_the_middle(source: Path) -> None:
    """Change a file as `rsync --times` may: size, time and both ends stay."""
    before, data = source.stat(), source.read_bytes()
    middle = data.index(b"thought", len(data) // 2)
    source.write_bytes(data[:middle] + b"THOUGHT" + data[middle + 7 :])
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_batch_is_scanned_again_when_its_texts_changed_between_scans(
    given: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ticore.corpus._identity._EDGE", 16)
    stopped(given, monkeypatch, batches=3)
    changed_in_the_middle(given.source)
    done, said = counted(given)
    assert (done, len(said)) == (2, 2)
    assert "1 of these was scanned again" in said[1]
    found = given.output.read_bytes()
    scan(given, TASK, workers=1)
    assert given.output.read_bytes() == found


def test_scan_refuses_an_input_whose_middle_changes_during_it(
    given: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ticore.corpus._identity._EDGE", 16)

    def change(done: int, total: int) -> None:
        if done == total:
            changed_in_the_middle(given.source)

    with pytest.raises(FileError, match=r"to stay as they are .*found a change"):
        scan(given, TASK, workers=1, progress=change)
    assert not given.output.exists()


def test_finished_file_of_many_is_scanned_again_for_another_output(given: Scan) -> None:
    first = scan_one(given, TASK, workers=1, one_of_many=True)
    said: list[str] = []
    assert scan_one(given, TASK, tell=said.append, one_of_many=True) == first
    assert said == [f"{given.output} was finished before"]
    alone = replace(given, results_only=True)
    assert scan_one(alone, TASK, workers=1, one_of_many=True) == first
    assert "text" not in read(given.output)[0]
    assert scan(given, TASK, workers=1) == first
    assert read(given.output)[0]["text"] == rows(1)[0]["text"]
    assert {path.name for path in given.output.parent.iterdir()} == {"rows.jsonl", "out.jsonl"}


@pytest.mark.parametrize("results_only", [False, True])
def test_interrupted_scan_of_the_other_kind_of_output_is_not_taken_up(
    given: Scan, results_only: bool
) -> None:
    """A later line with a column that the scan adds has an error, unless only results are kept."""
    lines = [*rows(5), {"text": "It was late.", "error": "of a logger"}, *rows(2)]
    write(given.source, lines)
    first = replace(given, results_only=not results_only, batch_size=2)

    def interrupt(done: int, total: int) -> None:
        if done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan(first, TASK, workers=1, progress=interrupt)
    second = replace(given, results_only=results_only, batch_size=2)
    assert scan(second, TASK, workers=1).errors == (not results_only)


def test_scan_is_refused_while_another_one_writes_the_same_output(given: Scan) -> None:
    refused: list[str] = []

    def another(done: int, _: int) -> None:
        if not refused:
            with pytest.raises(FileError, match="expected no other scan that writes") as caught:
                scan(given, TASK, workers=1)
            refused.append(str(caught.value))

    scan(given, TASK, workers=1, progress=another)
    assert len(refused) == 1
    assert len(read(given.output)) == 10


@pytest.mark.parametrize("change", [{"column": "nix"}, {"source": "taken.jsonl"}])
def test_scan_that_is_refused_leaves_no_file(given: Scan, change: dict[str, str]) -> None:
    taken = write(given.source.with_name("taken.jsonl"), [{"text": "a", "verdict": 1}])
    given = replace(given, source=taken) if "source" in change else replace(given, column="nix")
    with pytest.raises(FileError, match=r"expected (a|no) column"):
        scan(given, TASK, workers=1)
    assert {path.name for path in taken.parent.iterdir()} == {"rows.jsonl", "taken.jsonl"}


def test_output_is_written_in_the_folder_of_saved_results_first(
    given: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A killed process leaves it there, and the next scan removes it."""
    folder, seen = given.output.parent, []
    extended = jsonl.extended

    def look(*arguments: Any) -> bytes:
        seen.append({path.parent.name for path in folder.rglob(".ticore-*.tmp")})
        return extended(*arguments)

    monkeypatch.setattr(jsonl, "extended", look)
    scan(given, TASK, workers=1)
    assert seen[-1] == {"out.jsonl.parts"}
    left = folder / ".ticore-0123456789abcdef.tmp"  # of an earlier version
    left.touch()
    os.utime(left, (0, 0))
    scan(given, TASK, workers=1)
    assert {path.name for path in folder.iterdir()} == {"rows.jsonl", "out.jsonl"}


@pytest.mark.skipif(sys.platform == "win32", reason="file modes are POSIX")
def test_scan_keeps_the_mode_of_its_output_and_follows_a_link(given: Scan) -> None:
    target = given.output.with_name("there.jsonl")
    target.touch()
    target.chmod(0o600)
    given.output.symlink_to(target)
    scan(given, TASK, workers=1)
    assert given.output.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert len(read(target)) == 10


def test_scan_refuses_an_output_that_is_a_folder(given: Scan) -> None:
    given.output.mkdir()
    with pytest.raises(FileError, match="found something else"):
        scan(given, TASK, workers=1)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes with names are POSIX")
def test_scan_refuses_an_input_that_is_a_pipe(given: Scan) -> None:
    given.source.unlink()
    os.mkfifo(given.source)
    with pytest.raises(FileError, match="a file that can be read twice, found something else"):
        scan(given, TASK, workers=1)


def test_output_stays_as_it_was_when_writing_fails(
    given: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    given.output.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    def fill(*_: object) -> None:
        monkeypatch.setattr("ticore.corpus._jsonl.extended", fail)

    with pytest.raises(FileError, match="No space left on device; make room"):
        scan(given, TASK, workers=1, progress=fill)
    assert given.output.read_text() == "old"
    names = {path.name for path in given.output.parent.iterdir()}
    assert names == {"rows.jsonl", "out.jsonl", "out.jsonl.parts"}


@pytest.mark.slow
def test_processes_give_the_results_of_one_worker(given: Scan) -> None:
    write(given.source, rows(40))
    scan(given, TASK, workers=1)
    expected = given.output.read_bytes()
    scan(given, TASK, workers=2)
    assert given.output.read_bytes() == expected


LAST = "The last row, with which a worker ends."


@dataclass(frozen=True)
class Deadly(Task):
    """Its worker is killed in the batch that has `LAST`, while the file `where` exists."""

    where: str = ""

    def score(self, opened: Any, texts: Sequence[CorpusText]) -> list[Result]:
        if LAST in texts and Path(self.where).exists():
            os._exit(9)
        return super().score(opened, texts)

    def public_settings(self) -> dict[str, Any]:
        return super().public_settings() | {"where": ""}


@pytest.mark.slow
def test_killed_worker_costs_nothing_but_time(given: Scan) -> None:
    write(given.source, [*rows(30), {"text": LAST}])
    scan(given, TASK, workers=1)
    expected = given.output.read_bytes()
    given.output.unlink()
    trap = given.output.with_name("trap")
    trap.touch()
    task = Deadly(TASK.tokenizer, TASK.scheme, TASK.key, where=str(trap))
    with pytest.raises(TicoreError, match="a worker process ended before its work did"):
        scan(given, task, workers=2)
    assert not given.output.exists()
    trap.unlink()
    said: list[str] = []
    scan(given, task, workers=2, tell=said.append)
    assert given.output.read_bytes() == expected
    assert said[0].startswith("going on")


@pytest.mark.slow
def test_scans_in_threads_write_what_scans_in_the_main_thread_write(given: Scan) -> None:
    """Two scans at once, each in a thread of its own that starts two processes."""
    write(given.source, rows(20))
    scan(given, TASK, workers=1)
    expected = given.output.read_bytes()
    outputs = [given.output.with_name(f"{n}.jsonl") for n in range(2)]
    with ThreadPoolExecutor(2) as pool:
        running = [
            pool.submit(scan, replace(given, output=output), TASK, workers=2) for output in outputs
        ]
        assert [each.result().rows for each in running] == [20, 20]
    assert [output.read_bytes() for output in outputs] == [expected] * 2


def test_scan_is_refused_while_another_thread_writes_the_same_output(given: Scan) -> None:
    under_way, may_end = Event(), Event()

    def wait(*_: int) -> None:
        under_way.set()
        may_end.wait(60)

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(scan, given, TASK, workers=1, progress=wait)
        assert under_way.wait(60)
        with pytest.raises(FileError, match="expected no other scan that writes"):
            scan(given, TASK, workers=1)
        may_end.set()
        assert first.result().rows == 10
    assert len(read(given.output)) == 10


def test_scan_accepts_engine_as_the_old_name_of_executor(given: Scan) -> None:
    with pytest.warns(DeprecationWarning, match=r"scan\(engine=...\) is deprecated"):
        assert scan(given, TASK, engine="processes", workers=1).rows == 10


def test_scan_names_the_extra_when_ray_is_not_installed(
    given: Scan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"extra 'scale'|\[scale\]'"):
        scan(given, TASK, executor="ray")


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"source": Path("a.txt")}, "ends in .jsonl, .jsonl.gz or .parquet"),
        ({"output": Path("a")}, "ends in .jsonl, .jsonl.gz or .parquet"),
        ({"batch_size": 0}, "batch_size: expected an integer from 1 to "),
        ({"batch_size": 2.5}, "batch_size: expected an integer from 1 to "),
        ({"limit": 0}, "limit: expected an integer from 1 to "),
        ({"batch_size": 10**23}, "batch_size: expected an integer from 1 to "),
        ({"limit": 10**23}, "limit: expected an integer from 1 to "),
        ({"limit": "5"}, "limit: expected an integer from 1 to "),
    ],
)
def test_scan_refuses_settings_out_of_range(
    given: Scan, change: dict[str, object], part: str
) -> None:
    with pytest.raises(SettingsError, match=part):
        replace(given, **change)  # type: ignore[arg-type]
    with pytest.raises(SettingsError, match="expected another file"):
        replace(given, output=given.source)
    with pytest.raises(SettingsError, match="unknown executor"):
        scan(given, TASK, executor="nix")
    for names in ({"source": Path("a\0b.jsonl")}, {"output": Path("\ud800.jsonl")}):
        with pytest.raises(FileError, match="no file can have this name"):
            replace(given, **names)


def test_settings_of_a_scan_are_pythons(given: Scan) -> None:
    made = Scan(str(given.source), "text", str(given.output))
    assert (made.source, made.output) == (given.source, given.output)
    plain = Task("tiny-en", "left_hash", KEY, fpr=0.25, settings={"gamma": 0.5})
    rate: Any = np.float32(0.25)
    task = Task("tiny-en", "left_hash", KEY.hex(), fpr=rate, settings={"gamma": np.float32(0.5)})
    assert task == plain
    scan(given, task, workers=1)
    assert type(AnyTask("tiny-en", [], fpr=rate).fpr) is float


@pytest.mark.parametrize("wrong", [{"source": 5}, {"output": None}, {"column": 5}])
def test_scan_refuses_what_is_no_path_or_name(given: Scan, wrong: dict[str, Any]) -> None:
    with pytest.raises(WrongTypeError, match=f"{next(iter(wrong))}: expected a "):
        replace(given, **wrong)


def test_scan_refuses_a_config_for_an_own_scheme(given: Scan) -> None:
    with pytest.raises(SettingsError, match="config: expected none for left_hash"):
        scan(given, replace(TASK, config={"key": 1}), workers=1)
