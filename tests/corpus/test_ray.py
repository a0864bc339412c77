"""Scans of every kind on a local Ray cluster: one for all, since it takes seconds to start."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import ticore
from ticore.corpus import AnyTask, DriftTask, RolloutColumns, Scan, Task, scan, scan_drift

KEYS = [bytes([number] * 32) for number in range(3)]
SCANS = {
    "texts": (scan, "text", Task("tiny-en", "left_hash", KEYS[0])),
    "configurations": (scan, "text", AnyTask("tiny-en", ({"scheme": "gumbel", "key": KEYS},))),
    "drift": (scan_drift, RolloutColumns(), DriftTask("tiny-en")),
}
TEXTS = [*(f"It was a cold morning, and {n} had thought of wood." for n in range(9)), "", "a"]
# In a process of its own: Ray leaves sockets, files and processes open when it is shut down.
PROGRAM = """
import pickle, sys
import ray
jobs = pickle.load(sys.stdin.buffer)
ray.init(num_cpus=1, log_to_driver=False, include_dashboard=False)
for scan, given, task in jobs:
    scan(given, task, executor="ray")
"""


@pytest.mark.slow
def test_ray_writes_what_one_process_writes(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="ray is not installed: extra scale")
    source, tokenizer = tmp_path / "rows.jsonl", ticore.load_tokenizer("tiny-en")
    rows = [{"text": text, "ids": tokenizer.encode(text)} for text in TEXTS]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    jobs, expected = [], {}
    for name, (run, column, task) in SCANS.items():
        given = Scan(source, column, tmp_path / f"{name}.jsonl", batch_size=3)
        run(given, task, workers=1)
        expected[given.output] = given.output.read_bytes()
        given.output.unlink()
        jobs.append((run, given, task))
    command = [sys.executable, "-c", PROGRAM]
    subprocess.run(command, input=pickle.dumps(jobs), check=True, capture_output=True)
    assert {path: path.read_bytes() for path in expected} == expected
