"""Whole files, read only where they are files and of a size that can be meant."""

import os

import pytest

from ticore.backend_kit.checkpoint import read_config, read_whole
from ticore.errors import ModelFilesError
from ticore.registry import load_tokenizer


def test_read_whole_returns_the_content(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    assert read_whole(tmp_path / "a", most=5) == b"12345"
    assert read_whole(str(tmp_path / "a"), most=6) == b"12345"


def test_read_whole_refuses_a_larger_file(tmp_path):
    (tmp_path / "a").write_bytes(b"12345")
    with pytest.raises(OSError, match="larger than 4 bytes"):
        read_whole(tmp_path / "a", most=4)
    with pytest.raises(OSError, match="larger than 0 bytes"):
        read_whole(tmp_path / "a", most=0)


def test_read_whole_refuses_a_file_that_grows_beyond_the_limit(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"12345")
    small = os.stat(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"1234567")
    monkeypatch.setattr(os, "fstat", lambda _: small)
    with pytest.raises(OSError, match="larger than 6 bytes"):
        read_whole(tmp_path / "a", most=6)


def test_read_whole_refuses_what_is_no_regular_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # has no writer: a plain open would wait for ever
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(OSError, match="not a regular file"):
            read_whole(path, most=100)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"])
def test_read_whole_refuses_names_that_no_file_can_have(name):
    with pytest.raises(OSError, match="no file can have this name"):
        read_whole(name, most=100)


@pytest.mark.parametrize("backend", ["tokenizers:", "sentencepiece:", "tiktoken:"])
@pytest.mark.parametrize("location", ["a\0b", "\ud800", "/dev/zero", "{folder}", "{folder}/pipe"])
def test_load_tokenizer_refuses_what_is_no_regular_file(backend, location, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    pattern = "#gpt2" if backend == "tiktoken:" else ""
    with pytest.raises(ModelFilesError, match="found none that can be read"):
        load_tokenizer(backend + location.format(folder=tmp_path) + pattern)


def test_load_model_refuses_an_endless_config(tmp_path):
    (tmp_path / "config.json").symlink_to("/dev/zero")
    with pytest.raises(ModelFilesError, match="not a regular file"):
        read_config(tmp_path)
    (tmp_path / "config.json").unlink()
    (tmp_path / "config.json").write_bytes(b" " * (16 << 20) + b"{}")
    with pytest.raises(ModelFilesError, match="larger than 16 MB"):
        read_config(tmp_path)
