"""What measured numbers depend on besides the settings: machine, commit and versions."""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .types import JsonObject

_PACKAGES = (
    *("ticore", "numpy", "scipy", "regex"),
    *("sentencepiece", "tiktoken", "tokenizers"),
    *("torch", "transformers", "jax", "flax", "scikit-learn"),
)
_ROOT = Path(__file__).parents[2]


def environment() -> JsonObject:
    """The record of this run's environment.

    Returns:
        `command`, `time`, `machine`, `commit` (None outside a git checkout) and `versions` (None
        for a package that is not installed).
    """
    return {
        "command": shlex.join([Path(sys.executable).name, *sys.orig_argv[1:]]),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "processor": _processor(),
            "system": platform.platform(),
            "cores": os.cpu_count(),
            "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
            "cores_used": len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else None,
        },
        "commit": _commit(),
        "versions": {"python": platform.python_version()} | {p: _version(p) for p in _PACKAGES},
    }


@contextmanager
def one_core() -> Iterator[None]:
    """Keep this process on one core: some libraries start threads in spite of all settings."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _commit() -> JsonObject | None:
    """The commit that is checked out, and whether tracked files differ from it."""
    commit = _git("rev-parse", "HEAD")
    changes = _git("status", "--porcelain", "--untracked-files=no")
    return None if commit is None else {"id": commit, "modified": bool(changes)}


def _git(*arguments: str) -> str | None:
    """What a git command prints about this checkout; None where git or the checkout is missing."""
    command = ["git", "-C", str(_ROOT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
