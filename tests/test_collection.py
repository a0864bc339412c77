"""A test module that cannot be imported fails, unless a package is not installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
PASSES, FAILS, NOTHING_RUN = 0, 2, 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "status", "part"),
    [
        ("import json", PASSES, "1 passed"),
        ("from json import nothing", FAILS, "cannot import name 'nothing'"),
        ("import json.nothing", FAILS, "No module named 'json.nothing'"),
        ("import a_misspelled_package", FAILS, "No module named 'a_misspelled_package'"),
        ("import an_optional_package", NOTHING_RUN, "an_optional_package is not installed"),
        ("import an_optional_package.part", NOTHING_RUN, "an_optional_package is not installed"),
    ],
)
def test_module_is_skipped_only_when_its_package_is_missing(tmp_path, line, status, part):
    optional = CONFTEST.read_text(encoding="utf-8").replace(
        '"torch"', '"an_optional_package", "json"'
    )
    (tmp_path / "conftest.py").write_text(optional, encoding="utf-8")
    body = f"{line}\n\n\ndef test_nothing():\n    pass\n"
    (tmp_path / "test_module.py").write_text(body, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--import-mode=importlib", "--doctest-modules", "-rs"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
        check=False,
    )
    assert part in run.stdout
    assert run.returncode == status, run.stdout
