"""The face of the library: what `import ticore` offers, and that it costs nothing to import."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import ticore

SOURCE = Path(ticore.__file__)


def test_lazy_names_are_those_declared_for_type_checkers():
    (block,) = (node for node in ast.parse(SOURCE.read_text()).body if isinstance(node, ast.If))
    declared = {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert declared == ticore._HOME_OF
    assert sorted(declared) == sorted(ticore.__all__)


@pytest.mark.parametrize("name", ticore.__all__)
def test_public_name_is_that_of_its_package(name):
    home = importlib.import_module(f"ticore.{ticore._HOME_OF[name]}")
    assert getattr(ticore, name) is getattr(home, name)
    assert name in getattr(home, "__all__", vars(home))


@pytest.mark.parametrize("name", ticore._RENAMED)
def test_old_name_is_found_in_its_new_home_and_warns(name):
    home, _, new = ticore._RENAMED[name].partition(":")
    with pytest.warns(
        DeprecationWarning, match=rf"ticore\.{name} is deprecated; use {home}\.{new}"
    ):
        assert getattr(ticore, name) is getattr(importlib.import_module(home), new)


def test_public_packages_are_all_that_have_no_underscore():
    found = {path.stem for path in SOURCE.parent.iterdir() if not path.name.startswith(("_", "."))}
    assert found - {"py"} == set(ticore._PACKAGES)


def test_import_of_ticore_imports_no_other_package():
    code = (
        "import sys; before = set(sys.modules); import ticore; "
        "print({name.partition('.')[0] for name in set(sys.modules) - before}"
        " & {'numpy', 'scipy', 'regex', 'typer', 'rich', 'sentencepiece', 'cryptography'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'ticore' has no attribute 'Verifyer'"):
        ticore.Verifyer  # noqa: B018  # the access itself is what fails
