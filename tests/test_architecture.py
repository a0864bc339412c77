"""The floors of the house, as import-linter's contracts in pyproject.toml draw them."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_imports_keep_the_contracts():
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 kept, 0 broken" in done.stdout


def test_the_core_imports_no_framework():
    """Not even by way of its dependencies: a server that only detects must start light."""
    heavy = "torch jax flax transformers tokenizers sentencepiece matplotlib pyarrow ray"
    code = f"import sys, ticore; print(*[m for m in '{heavy}'.split() if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
