"""The command that is installed hears Ctrl-C quietly from its first moment to its last."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")

# As the script that pip makes from pyproject.toml; the signal comes while a module is imported,
# or when the interpreter is about to end.
WHILE_IMPORTING = """
import importlib.abc, os, signal, sys
from {module} import {function}

class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, *_):
        if name == {name!r}:
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except BaseException as error:  # as some packages do
                raise ImportError("misunderstood") from error

sys.meta_path.insert(0, Interrupt())
sys.argv = ["ticore", "--version"]
{function}()
"""
WHEN_DONE = """
import atexit, os, signal, sys
from {module} import {function}
atexit.register(lambda: os.kill(os.getpid(), signal.SIGINT))
sys.argv = ["ticore", "--version"]
{function}()
"""
PYPROJECT = Path(__file__).parent.parent / "pyproject.toml"
OF_WATERMARKS = {"scipy", "ticore.watermarking", "ticore.corpus"}


def run(code: str, **values: str) -> subprocess.CompletedProcess[bytes]:
    scripts = tomllib.loads(PYPROJECT.read_text())["project"]["scripts"]
    module, _, function = scripts["ticore"].partition(":")
    code = code.format(module=module, function=function, **values)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "argument"),
    [("ticore._cli", "--version"), ("typer.core", "--version"), ("ticore._cli.models", "models")],
)
def test_ctrl_c_while_something_is_imported(name: str, argument: str) -> None:
    done = run(WHILE_IMPORTING.replace("--version", argument), name=name)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"ticore: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "others"),
    [
        (["--version"], {"numpy", "ticore.steganography", *OF_WATERMARKS}),
        (["keygen"], OF_WATERMARKS),
        (["agree", "--prompt", "A day"], OF_WATERMARKS),
        (["models"], {"scipy.special", "ticore.corpus"}),
        (["inspect", "A day"], {"scipy.special", "ticore.corpus"}),
    ],
)
def test_a_command_imports_nothing_that_others_need(arguments: list[str], others: set[str]) -> None:
    code = "import sys; from ticore._cli.main import run; status = run(sys.argv[1:])\n"
    code += f"assert not {others} & sys.modules.keys()\n"
    code += "sys.exit(status)"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr.count(b"Error")) == (0, 0)


def test_ctrl_c_while_the_module_is_run() -> None:
    """`python -m ticore` imports ticore itself first; what comes then is most of the time."""
    code = WHILE_IMPORTING.replace("from {module} import {function}", "")
    code = code.replace("{function}()", "import runpy, ticore\nsys.argv[0] = 'ticore'\n")
    code += "runpy.run_module('ticore', run_name='__main__', alter_sys=True)"
    done = run(code, name="typer")
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"ticore: interrupted\n")


@pytest.mark.slow
def test_ctrl_c_when_it_is_done() -> None:
    done = run(WHEN_DONE)
    assert (done.returncode, done.stderr) == (130, b"ticore: interrupted\n")
    assert done.stdout.startswith(b"ticore ")


@pytest.mark.slow
def test_who_is_deaf_to_ctrl_c_stays_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = run(WHILE_IMPORTING, name="typer.core")
    finally:
        signal.signal(signal.SIGINT, before)
    assert (done.returncode, done.stderr) == (0, b"")


def test_nobody_reads_it() -> None:
    scripts = WHILE_IMPORTING.format(module="ticore.__main__", function="main", name="typer.core")
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", scripts], stderr=write, check=False)
    os.close(write)
    assert done.returncode == 130
