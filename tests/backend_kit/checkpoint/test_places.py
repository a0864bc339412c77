"""Models of the Hugging Face hub, from a local copy in the layout of its cache."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import ticore
from ticore.backend_kit.checkpoint import find_model_files
from ticore.errors import MissingExtraError, ModelFilesError, SettingsError
from ticore_embedded import BACKEND

NAME = "somebody/a-model"
MODEL_FOLDER = BACKEND.folder("tiny-en")
REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that holds the bundled model as one of the hub; the hub itself is not reached."""
    constants = pytest.importorskip(
        "huggingface_hub.constants", reason="huggingface_hub is not installed"
    )
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    repository = tmp_path / "models--somebody--a-model"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(REVISION)
    (repository / "snapshots").mkdir()
    (repository / "snapshots" / REVISION).symlink_to(MODEL_FOLDER, target_is_directory=True)
    return tmp_path


@pytest.mark.parametrize("backend", ["embedded", "torch", "jax"])
def test_every_backend_opens_a_model_of_the_hub(hub: Path, backend: str) -> None:
    framework = {"torch": "torch", "jax": "jax"}.get(backend, "numpy")
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    model = ticore.load_model(f"{backend}:{NAME}", dtype="float64")
    bundled = ticore.load_model("tiny-en")
    assert model.portable_digest() == bundled.portable_digest()


def test_a_model_that_the_cache_lacks_is_named(hub: Path) -> None:
    with pytest.raises(ModelFilesError, match="'somebody/another' to be a directory, or a model"):
        find_model_files("somebody/another")


def test_a_revision_is_one_of_the_hub(hub: Path, tmp_path: Path) -> None:
    assert find_model_files(NAME, "main").settings == find_model_files(NAME).settings
    with pytest.raises(SettingsError, match="only models of the hub have revisions"):
        find_model_files(str(MODEL_FOLDER), REVISION)


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match="huggingface_hub"):
        find_model_files(NAME)


@pytest.mark.parametrize("place", ["missing", "./a/b", "/a/b", "a/b/c", "a b/c"])
def test_what_is_no_name_of_the_hub_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ModelFilesError, match="found no directory"):
        find_model_files(place)
