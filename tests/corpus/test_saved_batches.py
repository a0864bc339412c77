"""Saved results of the same scan are found again; those of another scan or damaged ones are not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ticore.corpus import Result
from ticore.corpus._batch_digests import digest_of_texts
from ticore.corpus._saved_batches import SavedBatches, forget
from ticore.errors import FileError

TEXTS = digest_of_texts(["a", "b"])
RESULTS = [Result(p_value=0.1 + 0.2, tokens=3, error="é\ud800"), Result()]


def opened(folder: Path, digest: str = "a") -> tuple[SavedBatches, list[str]]:
    said: list[str] = []
    return SavedBatches(folder / "out.jsonl", digest, said.append), said


def kept(folder: Path, number: int = 1) -> Path:
    """The file of a saved batch, of a scan that has ended."""
    with opened(folder)[0] as saved:
        saved.put(number, TEXTS, RESULTS)
        return saved.folder / f"{number:06}.json"


def test_folder_that_another_scan_has_begun_to_use_is_left_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may begin once the lock is free and before the folder is gone."""
    saved, _ = opened(tmp_path)
    close = saved.close

    def close_and_begin() -> None:
        close()
        (saved.folder / "lock").touch()

    monkeypatch.setattr(saved, "close", close_and_begin)
    saved.remove()
    assert saved.folder.exists()


def test_saved_batches_are_found_again(tmp_path: Path) -> None:
    with opened(tmp_path)[0] as saved:
        saved.put(7, TEXTS, RESULTS)
        assert saved.holds(7, TEXTS)
    again, said = opened(tmp_path)
    assert said == ["going on: 1 batch was scanned before"]
    assert again.holds(7, TEXTS)
    assert again.get(7, TEXTS) == RESULTS
    assert not again.holds(6, TEXTS)
    assert again.get(6, TEXTS) is None
    assert again.refused == 0
    again.remove()
    assert list(tmp_path.iterdir()) == []


def test_saved_batches_are_dropped_when_the_digest_is_another(tmp_path: Path) -> None:
    kept(tmp_path)
    saved, said = opened(tmp_path, "b")
    assert said == ["the input or a setting has changed: starting from the beginning"]
    assert not saved.holds(1, TEXTS)


def test_saved_batch_is_refused_when_texts_or_number_are_others(tmp_path: Path) -> None:
    part = kept(tmp_path)
    part.with_name("000002.json").write_bytes(part.read_bytes())
    with opened(tmp_path)[0] as saved:
        assert not saved.holds(1, digest_of_texts(["a", "c"]))
        assert not saved.holds(2, TEXTS)
        assert saved.refused == 2
    data = part.read_bytes()
    with opened(tmp_path, "b")[0] as saved:
        part.write_bytes(data)
        assert not saved.holds(1, TEXTS)


@pytest.mark.parametrize("manifest", ["", "[]", "{}", "broken", "[" * 5000, "3" * 5000])
def test_saved_batches_are_dropped_when_the_manifest_is_damaged(
    tmp_path: Path, manifest: str
) -> None:
    kept(tmp_path).with_name("manifest.json").write_text(manifest)
    assert not opened(tmp_path)[0].holds(1, TEXTS)


@pytest.mark.parametrize(
    "content",
    ["", "broken", "3", "[" * 5000, '[[null, 0.5, 1, 1, 1, 1, 1, 1, 1, "\\ud800"]]', "\n\n[]"],
)
def test_saved_batch_is_refused_when_it_is_damaged(tmp_path: Path, content: str) -> None:
    """Also a file of an earlier version, which had no digest."""
    kept(tmp_path).write_text(content)
    saved, _ = opened(tmp_path)
    assert not saved.holds(1, TEXTS)
    assert saved.refused == 1
    assert saved.get(1, TEXTS) is None


def test_summary_is_kept_until_the_output_or_the_scan_is_another(tmp_path: Path) -> None:
    output, summary = tmp_path / "out.jsonl", {"rows": 2, "first_error": "\ud800"}
    output.write_text("one")
    with opened(tmp_path)[0] as saved:
        saved.put(0, TEXTS, RESULTS)
        saved.keep(summary)
    again, said = opened(tmp_path)
    assert (again.kept(), said, again.holds(0, TEXTS)) == (summary, [], False)
    again.close()
    output.write_text("two, since")
    with opened(tmp_path)[0] as saved:
        assert saved.kept() is None
        saved.keep(summary)
    with pytest.raises(KeyboardInterrupt), opened(tmp_path)[0] as saved:
        raise KeyboardInterrupt
    with opened(tmp_path)[0] as saved:
        assert saved.kept() == summary
        output.unlink()
        assert saved.kept() is None
    with opened(tmp_path, "b")[0] as saved:
        assert saved.kept() is None


def test_no_summary_is_kept_when_the_output_is_gone(tmp_path: Path) -> None:
    with opened(tmp_path)[0] as saved:
        saved.keep({"rows": 2})
    assert list(tmp_path.iterdir()) == []


def test_forget_leaves_the_folder_to_a_scan_that_has_begun(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    forget(output)
    output.touch()
    with opened(tmp_path)[0] as saved:
        saved.keep({})
        saved.put(0, TEXTS, RESULTS)
        forget(output)
        assert saved.holds(0, TEXTS)
    forget(output)
    assert list(tmp_path.iterdir()) == [output]
    with opened(tmp_path)[0] as saved:
        saved.put(0, TEXTS, RESULTS)
    forget(output)
    assert opened(tmp_path)[0].holds(0, TEXTS)


@given(at=st.integers(0, 10**6), flipped=st.integers(1, 255), cut=st.booleans(), more=st.booleans())
@example(at=64, flipped=1, cut=False, more=False)  # the line end after the digest
def test_saved_batch_is_refused_after_any_change_of_its_bytes(
    tmp_path_factory: pytest.TempPathFactory, at: int, flipped: int, cut: bool, more: bool
) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    part = kept(folder)
    data = bytearray(part.read_bytes())
    data[at % len(data)] ^= flipped
    if cut:
        data = data[: at % len(data)]
    part.write_bytes(bytes(data) + b"\n" * more)
    with opened(folder)[0] as saved:
        assert not saved.holds(1, TEXTS)


def test_remove_deletes_temporary_files_of_a_killed_process(tmp_path: Path) -> None:
    saved, _ = opened(tmp_path)
    (saved.folder / ".ticore-0123456789abcdef.tmp").touch()
    saved.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("put", [False, True])
def test_folder_stays_after_an_error_when_it_has_results(tmp_path: Path, put: bool) -> None:
    def fail() -> None:
        with opened(tmp_path)[0] as saved:
            if put:
                saved.put(1, TEXTS, RESULTS)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    names = {path.name for path in tmp_path.rglob("*")}
    assert names == ({"out.jsonl.parts", "manifest.json", "000001.json"} if put else set())


def test_the_first_error_is_the_one_that_is_raised_when_the_folder_is_gone(tmp_path: Path) -> None:
    def fail() -> None:
        with opened(tmp_path)[0] as saved:
            shutil.rmtree(saved.folder, ignore_errors=True)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()


def test_folder_is_free_again_when_its_manifest_could_not_be_written(tmp_path: Path) -> None:
    manifest = tmp_path / "out.jsonl.parts" / "manifest.json"
    manifest.mkdir(parents=True)
    with pytest.raises(FileError, match=r"manifest\.json to be a new or regular file"):
        opened(tmp_path)
    manifest.rmdir()
    opened(tmp_path)[0].remove()
    assert list(tmp_path.iterdir()) == []


def test_folder_with_other_files_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "out.jsonl.parts"
    folder.mkdir()
    (folder / "mine").touch()
    with pytest.raises(FileError, match="found something else"):
        opened(tmp_path)
    assert [path.name for path in folder.iterdir()] == ["mine"]


def test_saved_batches_refuse_a_place_that_cannot_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl.parts").touch()
    with pytest.raises(FileError, match=r"cannot use .*out\.jsonl\.parts"):
        opened(tmp_path)
    with pytest.raises(FileError, match=r"there is no directory .*missing; make it first"):
        opened(tmp_path / "missing")
    with pytest.raises(FileError, match=r"cannot write .*: no file can have this name"):
        opened(tmp_path / "a\0b")


def test_folder_is_refused_while_another_scan_uses_it(tmp_path: Path) -> None:
    saved, _ = opened(tmp_path)
    saved.put(1, TEXTS, RESULTS)
    with pytest.raises(FileError, match=r"no other scan that writes .*out\.jsonl, found one"):
        opened(tmp_path)
    assert saved.get(1, TEXTS) == RESULTS
    saved.close()
    assert opened(tmp_path)[0].holds(1, TEXTS)


HOLDER = """
import sys
from pathlib import Path
from ticore.corpus._saved_batches import SavedBatches
saved = SavedBatches(Path(sys.argv[1]) / "out.jsonl", "a", print)
print("there", flush=True)
sys.stdin.read()
"""


@pytest.mark.slow
def test_lock_ends_when_its_process_is_killed(tmp_path: Path) -> None:
    """A process that is killed leaves the file, but the file is not locked any more."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"there\n"
        # Windows lets nobody else read what is locked, so the process is not known there.
        named = "another process" if sys.platform == "win32" else f"process {holder.pid}"
        with pytest.raises(FileError, match=rf"\({named}\)"):
            opened(tmp_path)
        holder.kill()
        holder.wait()
    assert (tmp_path / "out.jsonl.parts" / "lock").exists()
    opened(tmp_path)[0].remove()
    assert list(tmp_path.iterdir()) == []
