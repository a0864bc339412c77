"""README's examples run as they stand, and its commands are the ones that work."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = [
    pytest.param(code, id=f"{page.stem}-{n}")
    for page in PAGES
    for n, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S))
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_example_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {"__name__": "example"})


def test_the_two_commands_are_there():
    readme = (ROOT / "README.md").read_text()
    assert "pip install -e . && ticore demo" in readme
    assert "pip install -e '.[test]' && pytest" in readme


def test_ci_runs_the_test_command():
    steps = (ROOT / ".ci" / "run").read_text()
    assert "'.[test]'" in steps
    assert re.search(r"^pytest$", steps, re.M)
