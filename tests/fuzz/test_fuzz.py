"""Damaged and hostile files: a valid result or a TicoreError, in bounded time and memory."""

from __future__ import annotations

import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import mutations
from tests.fuzz.parsers import GROUPS
from tests.support.slow import THOROUGH

ROOT = Path(__file__).parents[2]
MOST = 10_000
NEEDED = {
    "corpora": "pyarrow",
    "gguf": "gguf",
    "jax": "jax",
    "tokenizers": "tokenizers",
    "torch": "torch",
}


def failures(group: str, count: int) -> list[str]:
    """A line for each failure; with `count` 0, each parser reads its own number of files."""
    command = [sys.executable, "-m", "tests.fuzz.child", group, str(count)]
    found, last = [], ""
    while True:
        child = subprocess.run(
            command, input=last + "\n", capture_output=True, text=True, cwd=ROOT, check=False
        )
        lines = [line.split("\t") for line in child.stdout.splitlines()]
        found += [": ".join(line[1:]) for line in lines if line[0] == "failed"]
        if lines and lines[-1] == ["done"]:
            return found
        begun = [line[1:] for line in lines if line[0] == "begin"]
        assert begun, f"{group} did not begin: {child.stderr[-3000:]}"
        end = signal.Signals(-child.returncode).name if child.returncode < 0 else child.returncode
        last = "\t".join(begun[-1])
        found.append(f"{': '.join(begun[-1])}: the process ended: {end}")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of time and memory are those of Linux")
@pytest.mark.parametrize("group", GROUPS)
def test_parser_reads_or_refuses_damaged_files_within_its_limits(group: str) -> None:
    if group in NEEDED and find_spec(NEEDED[group]) is None:
        pytest.skip(f"{NEEDED[group]} is not installed")
    assert failures(group, MOST if THOROUGH else 0) == []


@pytest.mark.parametrize(
    ("damage", "data"),
    [
        (mutations.damaged_bytes, b"some bytes, and some more"),
        (mutations.damaged_lines, b"one\ntwo\nthree\n"),
        (mutations.damaged_json, b'{"a": [1, 2, {"b": null}], "c": "d"}'),
    ],
)
def test_damage_is_the_same_for_the_same_seed(damage: mutations.Damage, data: bytes) -> None:
    found = [[damage(Random(seed), data) for seed in range(300)] for _ in range(2)]
    assert found[0] == found[1]
    assert len({*found[0]}) > 150
    assert damage(Random(0), b"" if damage is mutations.damaged_bytes else data) is not None


def test_damaged_json_is_written_with_its_odd_values() -> None:
    data = b'{"a": [1, 2, {"b": null}], "c": "d"}'
    found = b"\n".join(mutations.damaged_json(Random(seed), data) for seed in range(3000))
    for odd in (b"NaN", b"1e400", b"1" * 5000, b"[" * 100_000, b'"\\ud800"', b'"c": "d", "c": '):
        assert odd in found, odd[:20]
    assert b"\\ue000" not in found
