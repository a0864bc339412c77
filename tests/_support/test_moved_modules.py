"""Modules that have moved are still found, with a warning for each name."""

import importlib
import sys

import pytest

from ticore import backend_kit
from ticore._support import moved_modules
from ticore._support.moved_modules import _MOVED

OLD_NAMES = [
    ("ticore.checkpoint", "Start", backend_kit.checkpoint.StartToken),
    ("ticore.checkpoint", "Tensors", backend_kit.checkpoint.Tensors),
    ("ticore.decoding", "TextReader", backend_kit.CachedForward),
    ("ticore.limits", "checked_ids", backend_kit.checked_ids),
    ("ticore.rows", "Rows", backend_kit.CheckedBatchDecoder),
    ("ticore.rows", "naming", backend_kit.error_names_row),
    ("ticore.unicode", "require_unicode", backend_kit.require_unicode),
]


@pytest.mark.parametrize(("module", "name", "new"), OLD_NAMES)
def test_moved_module_gives_old_names_with_a_warning(module, name, new):
    found = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=f"{module}.{name} is deprecated; use ticore"):
        assert getattr(found, name) is new


def test_moved_module_has_no_other_names():
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec("from ticore.rows import nothing")


@pytest.mark.parametrize("module", _MOVED)
def test_moved_module_hides_no_module_that_exists(module):
    assert importlib.util.find_spec(module).loader.__class__.__name__ == "MovedModules"


def test_install_adds_one_finder_however_often_it_is_called():
    moved_modules.install()
    moved_modules.install()
    assert sum(isinstance(f, moved_modules.MovedModules) for f in sys.meta_path) == 1
