"""`ticore models`: all backends, usable or not."""

from __future__ import annotations

import importlib
import json

import pytest

from ticore._cli.settings import DEFAULT_MODEL
from ticore.registry import BackendEntry, model_backends

from .conftest import Ticore

# The package exports a function of the same name as the module.
MODULE = importlib.import_module("ticore._cli.models")


def test_models_lists_the_default_model(ticore: Ticore) -> None:
    assert f"\n{DEFAULT_MODEL} " in ticore("models").out.decode()
    entries = json.loads(ticore("models", "--json").out)
    assert any(DEFAULT_MODEL in entry["shipped"] for entry in entries)
    assert [entry["backend"] for entry in entries] == [entry.name for entry in model_backends()]


@pytest.mark.parametrize("columns", [40, 80])
def test_models_says_what_a_backend_lacks(
    ticore: Ticore, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    problem = "run: pip install -e '.[torch]'"
    monkeypatch.setattr(MODULE, "model_backends", lambda: [BackendEntry("torch", None, problem)])
    shown = ticore("models").out.decode()
    assert "torch:LOCATION" in shown
    assert "'.[torch]'" in shown
    assert max(map(len, shown.splitlines())) <= columns
    assert json.loads(ticore("models", "--json").out) == [
        {"backend": "torch", "summary": None, "shipped": {}, "problem": problem}
    ]
