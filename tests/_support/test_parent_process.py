"""A worker process ends when the process that started it was killed."""

import subprocess
import sys
import threading

from ticore._support.parent_process import end_with_parent

PROGRAM = """
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from threading import Event

from ticore._support.parent_process import end_with_parent

if __name__ == "__main__":
    pool = ProcessPoolExecutor(2, get_context("spawn"), end_with_parent)
    print(pool.submit(int, "7").result(), flush=True)
    Event().wait()
"""


def test_workers_end_when_the_first_process_was_killed(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE) as first:
        assert first.stdout.readline() == b"7\n"
        first.kill()
        # Its workers have the same output, which ends when the last one of them does.
        assert first.communicate(timeout=60) == (b"", None)


def test_a_process_that_no_other_one_started_waits_for_none():
    before = set(threading.enumerate())
    end_with_parent()
    assert set(threading.enumerate()) <= before  # one of an earlier test may end meanwhile
