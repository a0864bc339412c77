"""One version: what is installed, what `import ticore` says, what the command says."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import ticore

ROOT = Path(__file__).parents[1]
# A copy of one file, where no distribution called ticore can be found.
NOT_INSTALLED = """
import sys
sys.path[:] = [path for path in sys.path if "site-packages" not in path]
import importlib.metadata, runpy
importlib.metadata.Distribution.discover = lambda **_: iter(())
print(runpy.run_path({path!r})["__version__"])
"""


def test_version_is_the_installed_one() -> None:
    assert ticore.__version__ == version("ticore")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert ticore.__version__ == project["version"]


def test_version_is_unknown_when_nothing_is_installed() -> None:
    code = NOT_INSTALLED.format(path=str(ROOT / "ticore" / "_version.py"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0+unknown\n"
