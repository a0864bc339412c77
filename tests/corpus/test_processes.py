"""Workers end with their work, on Ctrl-C, and with the main process."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ticore.corpus import Scan, scan
from ticore.corpus import _processes as module
from ticore.corpus._processes import processes
from ticore.corpus._scoring import Task
from ticore.errors import CredentialError, TicoreError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and groups are POSIX")

TASK = Task("tiny-en", "left_hash", bytes(32))
TEXT = "It was a cold morning, and nobody had thought of bringing any wood."


def test_processes_score_in_this_process_when_there_is_one_batch() -> None:
    assert list(processes(TASK, [], 4)) == []
    ((result,),) = processes(TASK, [[TEXT]], 4)
    assert result.error is None


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_processes_raise_the_error_of_a_task_that_cannot_be_opened(
    workers: int, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CredentialError):
        list(processes(Task("tiny-en", "left_hash", b""), [[TEXT]] * 3, workers))
    assert capfd.readouterr().err == ""


def test_windows_is_asked_for_no_more_processes_than_it_can_wait_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def pooled(task: object, batches: object, workers: int) -> Iterator[list[Any]]:
        asked.append(workers)
        return iter(())

    monkeypatch.setattr(module, "_pooled", pooled)
    for platform in ("linux", "win32"):
        monkeypatch.setattr(sys, "platform", platform)
        assert list(processes(TASK, [[TEXT]] * 2, 64)) == []
    assert asked == [64, 61]


class Deadly(str):
    """A text that ends the process that unpickles it, as too little memory would."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (1,)


@pytest.mark.slow
def test_processes_report_a_worker_that_ended(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TicoreError, match="a worker process ended before its work did"):
        list(processes(TASK, [[TEXT], [Deadly()], [TEXT]], 2))
    assert capfd.readouterr().err == ""


def test_a_scan_in_a_worker_that_starts_names_the_missing_guard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": TEXT}))
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(TicoreError, match=r'called under `if __name__ == "__main__":`'):
        scan(Scan(tmp_path / "a.jsonl", "text", tmp_path / "out.jsonl"), TASK, workers=1)


SCRIPT = """
from pathlib import Path
from ticore.corpus import Scan, Task, scan
given = Scan(Path("a.jsonl"), "text", Path("out.jsonl"), batch_size=1)
scan(given, Task("tiny-en", "left_hash", bytes(32)), workers=2)
"""


@pytest.mark.slow
def test_script_without_the_guard_is_told_so_by_all_processes(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text((json.dumps({"text": TEXT}) + "\n") * 3)
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    errors = [line for line in done.stderr.decode().splitlines() if line.startswith("ticore.")]
    assert len(errors) >= 2
    for error in errors:
        assert '`if __name__ == "__main__":`' in error


def _started(folder: Path) -> subprocess.Popen[bytes]:
    """A scan with two workers, in a process group of its own, that has saved some results."""
    (folder / "K").write_text("0f" * 32)
    (folder / "a.jsonl").write_text((json.dumps({"text": TEXT * 200}) + "\n") * 3000)
    code = "from ticore.__main__ import main; main()"
    arguments = ["detect", "--key-file", "K", "--column", "text", "a.jsonl"]
    arguments += ["--workers", "2", "--batch-size", "10"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while process.poll() is None and not list(folder.glob("*.parts/0*.json")):
        time.sleep(0.02)
    return process


def _group_is_empty(group: int) -> bool:
    for _ in range(500):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.slow
def test_workers_are_started_with_interrupts_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else Ctrl-C would make a worker print a traceback until it has begun its work."""
    blocked = []

    class Watched(ProcessPoolExecutor):
        def submit(self, *arguments: Any, **more: Any) -> Any:
            blocked.append(signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()))
            return super().submit(*arguments, **more)

    monkeypatch.setattr(module, "ProcessPoolExecutor", Watched)
    assert len(list(processes(TASK, [[TEXT]] * 3, 2))) == 3
    assert blocked == [True] * 3
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.slow
def test_workers_end_on_ctrl_c(tmp_path: Path) -> None:
    """A terminal sends it to all processes of the group."""
    process = _started(tmp_path)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"ticore: interrupted\n")
    assert _group_is_empty(process.pid)


@pytest.mark.slow
def test_workers_end_when_the_main_process_is_killed(tmp_path: Path) -> None:
    process = _started(tmp_path)
    process.kill()
    process.communicate(timeout=60)
    assert _group_is_empty(process.pid)
