"""`ticore models`: all backends, usable or not."""

from __future__ import annotations

import importlib
import json

import pytest

from ticore.cli.settings import DEFAULT_MODEL
from ticore.registry import BackendEntry, model_backends

from .conftest import Ticore

# The package exports a function of the same name as the module.
MODULE = importlib.import_module("ticore.cli.models")


def test_the_default_model_is_among_them(ticore: Ticore) -> None:
    assert f"\n{DEFAULT_MODEL} " in ticore("models").out.decode()
    entries = json.loads(ticore("models", "--json").out)
    assert any(DEFAULT_MODEL in entry["shipped"] for entry in entries)
    assert [entry["backend"] for entry in entries] == [entry.name for entry in model_backends()]


@pytest.mark.parametrize("columns", [40, 80])
def test_what_is_missing_is_said_as_it_is(
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
