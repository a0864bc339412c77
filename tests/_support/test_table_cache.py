"""Tables on disk: what is stored comes back, and what is not trustworthy is treated as absent."""

import hashlib

import numpy as np
import pytest

from ticore._support import table_cache

ARRAYS = {
    "bits": np.array([True, False]),
    "numbers": np.array([[1, -2], [3, 4]], dtype=np.int32),
    "none": np.zeros((0, 5), dtype=bool),
    "text": np.frombuffer("é".encode(), dtype=np.uint8),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path / "tables"))
    return tmp_path / "tables"


def stored(folder):
    (file,) = folder.iterdir()
    return file


def test_load_gives_the_arrays_that_were_saved():
    table_cache.save("name", ARRAYS)
    found = table_cache.load("name")
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


def test_load_gives_none_for_a_name_that_was_not_saved():
    assert table_cache.load("name") is None
    table_cache.save("name", ARRAYS)
    assert table_cache.load("other") is None


def test_load_gives_the_arrays_that_were_saved_last():
    table_cache.save("name", ARRAYS)
    table_cache.save("name", {"numbers": np.arange(3)})
    assert table_cache.load("name").keys() == {"numbers"}


def test_folder_is_that_of_the_environment_or_the_user_cache(folder, monkeypatch):
    assert table_cache.folder() == folder
    monkeypatch.delenv("TICORE_CACHE")
    assert table_cache.folder().name == "ticore"


def test_save_leaves_one_file_in_the_folder(folder):
    table_cache.save("name", ARRAYS)
    assert stored(folder).name == "name.tables"


@pytest.mark.parametrize("at", [0, 5, 20, 60, 200, -1])
def test_load_gives_none_when_the_file_is_damaged(folder, at):
    table_cache.save("name", ARRAYS)
    content = bytearray(stored(folder).read_bytes())
    content[at] ^= 1
    stored(folder).write_bytes(content)
    assert table_cache.load("name") is None


@pytest.mark.parametrize("kept", [0, 1, 16, 40, 48, 300, -1])
def test_load_gives_none_when_the_file_is_truncated(folder, kept):
    table_cache.save("name", ARRAYS)
    stored(folder).write_bytes(stored(folder).read_bytes()[:kept])
    assert table_cache.load("name") is None


def test_load_gives_none_when_the_file_is_of_another_kind(folder):
    table_cache.save("name", ARRAYS)
    body = stored(folder).read_bytes()
    for content in (b"not a table", hashlib.sha256(body).digest() + body, body + b"more"):
        stored(folder).write_bytes(content)
        assert table_cache.load("name") is None


def test_load_gives_none_when_a_folder_has_the_name_of_the_file(folder):
    (folder / "name.tables").mkdir(parents=True)
    assert table_cache.load("name") is None
    table_cache.save("name", ARRAYS)
    assert table_cache.load("name") is None


@pytest.mark.parametrize("inner", ["", "deeper/still"])
def test_save_stores_nothing_when_the_folder_cannot_be_written(tmp_path, monkeypatch, inner):
    """A file stands where the folder should be; being root would not help."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path / "file" / inner))
    table_cache.save("name", ARRAYS)
    assert table_cache.load("name") is None
    assert (tmp_path / "file").read_text() == ""


def test_nothing_is_stored_for_a_user_without_a_home_directory(monkeypatch):
    monkeypatch.delenv("TICORE_CACHE")
    monkeypatch.setattr(table_cache, "user_cache_path", without_home)
    assert table_cache.folder() is None
    table_cache.save("name", ARRAYS)
    assert table_cache.load("name") is None


def without_home(application):
    raise RuntimeError("could not determine the home directory")


def test_load_gives_none_when_the_file_was_saved_under_another_name(folder):
    table_cache.save("name", ARRAYS)
    (folder / "other.tables").write_bytes(stored(folder).read_bytes())
    assert table_cache.load("other") is None
    assert table_cache.load("name") is not None


def test_load_unpacked_gives_none_when_the_arrays_do_not_fit():
    table_cache.save("name", ARRAYS)
    assert table_cache.load_unpacked("name", lambda arrays: arrays["numbers"].tolist()) == [
        [1, -2],
        [3, 4],
    ]
    assert table_cache.load_unpacked("name", lambda arrays: arrays["not there"]) is None
    assert table_cache.load_unpacked("other", dict) is None
