"""A list of backends costs no framework, and says which cannot be used."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ticore.backend_kit import LazyBackend, require_packages
from ticore.interfaces import ModelBackend, Tokenizer


def test_require_packages_names_the_first_that_is_missing() -> None:
    require_packages("json", "numpy")
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_package'") as raised:
        require_packages("json", "no_package", "no_other_package")
    assert raised.value.name == "no_package"


def test_lazy_backend_imports_its_module_when_a_model_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loads_arguments.py").write_text("def load(*arguments): return arguments")
    monkeypatch.syspath_prepend(tmp_path)
    backend: ModelBackend = LazyBackend("one line", "loads_arguments")
    assert (backend.summary, backend.shipped, backend.folder("a")) == ("one line", {}, None)
    assert "loads_arguments" not in sys.modules
    assert backend.load("here", _load_tokenizer, {"dtype": "float32"}) == (
        "here",
        _load_tokenizer,
        {"dtype": "float32"},
    )
    monkeypatch.delitem(sys.modules, "loads_arguments")


def _load_tokenizer(place: str) -> Tokenizer:
    raise AssertionError(place)
