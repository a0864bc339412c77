"""What pytest collects: a module that cannot be imported is an error, and is not skipped."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"
PASSES, FAILS, NOTHING_COLLECTED = 0, 2, 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "line", "status", "part"),
    [
        ("tests", "import json", PASSES, "1 passed"),
        ("tests", "from json import nothing", FAILS, "cannot import name 'nothing'"),
        ("tests", "import a_package_of_no_one", FAILS, "No module named 'a_package_of_no_one'"),
        ("needs_json", "from json import nothing", FAILS, "cannot import name 'nothing'"),
        ("needs_more", "import a_package_of_no_one", NOTHING_COLLECTED, "no tests ran"),
    ],
)
def test_module_is_left_out_only_when_its_folder_needs_a_missing_package(
    tmp_path, folder, line, status, part
):
    """The conftest is that of the repository, for two other folders."""
    ours = '"training": "torch"'
    theirs = '"needs_json": "json", "needs_more": "a_package_of_no_one"'
    conftest = CONFTEST.read_text(encoding="utf-8")
    assert ours in conftest
    (tmp_path / "conftest.py").write_text(conftest.replace(ours, theirs), encoding="utf-8")
    (tmp_path / folder).mkdir()
    body = f"{line}\n\n\ndef test_nothing():\n    pass\n"
    (tmp_path / folder / "test_module.py").write_text(body, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--import-mode=importlib", "--doctest-modules"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
        check=False,
    )
    assert part in run.stdout
    assert run.returncode == status, run.stdout
