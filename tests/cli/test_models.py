"""`ticore models`: all backends, usable or not."""

from __future__ import annotations

import importlib
import json
from hashlib import sha256
from pathlib import Path

import pytest

from ticore._cli.settings import DEFAULT_MODEL
from ticore._installed_models import CATALOGUE, KnownModel
from ticore.registry import BackendEntry, model_backends

from .conftest import Ticore

# The package exports a function of the same name as the module.
MODULE = importlib.import_module("ticore._cli.models")


def test_models_lists_the_default_model(ticore: Ticore) -> None:
    assert f"\n{DEFAULT_MODEL} " in ticore("models").out.decode()
    entries = json.loads(ticore("models", "--json").out)
    backends = [entry for entry in entries if "backend" in entry]
    assert any(DEFAULT_MODEL in entry["shipped"] for entry in backends)
    assert [entry["backend"] for entry in backends] == [entry.name for entry in model_backends()]


def test_models_names_the_licence_of_each_model(ticore: Ticore) -> None:
    entries = json.loads(ticore("models", "--json").out)
    bundled = [each for entry in entries for each in entry.get("shipped", {}).values()]
    assert all("Apache-2.0" in summary for summary in bundled)
    assert len(bundled) == 3
    assert all(entry["licence"] for entry in entries if "model" in entry)


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
    assert json.loads(ticore("models", "--json").out)[0] == {
        "backend": "torch",
        "summary": None,
        "shipped": {},
        "problem": problem,
    }


def test_a_model_is_added_listed_and_removed(
    ticore: Ticore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICORE_MODELS", str(tmp_path / "models"))
    content = b"weights"
    known = KnownModel(
        "toy", "a toy", ("en", "ja"), "MIT", 2_600_000, sha256(content).hexdigest(), 1.25, ()
    )
    monkeypatch.setitem(CATALOGUE, "toy", known)
    assert "ticore models add toy" in ticore("models").out.decode()
    file = tmp_path / "toy.gguf"
    file.write_bytes(content)

    added = ticore("models", "add", "toy", "--from", file)
    assert added.status == 0
    assert added.out == b""
    assert "licence: MIT" in added.err
    shown = " ".join(ticore("models").out.decode().split())
    assert "toy a toy (3 MB; languages: en, ja; 1.250 bits per byte of English novels" in shown
    (entry,) = (e for e in json.loads(ticore("models", "--json").out) if e.get("model") == "toy")
    assert entry["path"] == str(tmp_path / "models" / "toy.gguf")

    assert ticore("models", "remove", "toy").status == 0
    ticore("models", "remove", "toy").assert_error(1, "no model 'toy' is installed")


def test_a_model_that_is_not_installed_is_offered(
    ticore: Ticore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICORE_MODELS", str(tmp_path))
    ticore("demo", "--model", "smollm2").assert_error(1, "ticore models add smollm2")
    ticore("models", "add", "nothing").assert_error(1, "smollm2")
