"""What figures depend on beside the settings: the machine and the versions."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .plan import Found

_PACKAGES = ("ticore", "numpy", "scipy", "torch", "jax")


def about() -> Found:
    """For a report, as it is now."""
    return {
        "command": shlex.join([Path(sys.executable).name, *sys.orig_argv[1:]]),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "processor": _processor(),
            "system": platform.platform(),
            "cores": os.cpu_count(),
            "load": os.getloadavg() if hasattr(os, "getloadavg") else None,
        },
        "versions": {"python": platform.python_version()} | dict(map(_version, _PACKAGES)),
    }


def _version(package: str) -> tuple[str, str | None]:
    try:
        return package, version(package)
    except PackageNotFoundError:
        return package, None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())
