"""Directories and GGUF files, opened in the same way."""

import subprocess
import sys
from pathlib import Path

import pytest

from ticore.backend_kit.checkpoint import (
    find_model_files,
    is_gguf,
    open_gguf_files,
    open_model_files,
)
from ticore.errors import ModelFilesError


def test_only_directories_and_gguf_files_are_opened(tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"damaged")
    (tmp_path / "blob").write_bytes(b"GGUF")
    (tmp_path / "short").write_bytes(b"GGU")
    (tmp_path / "weights").write_bytes(b"PK\3\4 and more")
    (tmp_path / "folder.gguf").mkdir()
    found = [
        name for name in ("model.gguf", "blob", "short", "weights") if is_gguf(tmp_path / name)
    ]
    assert found == ["model.gguf", "blob"]
    for name in ("short", "weights", "none", "none.gguf", "a\0b"):
        assert open_model_files(tmp_path / name) is None, name
    assert open_model_files(tmp_path / "folder.gguf").path.is_dir()


@pytest.mark.parametrize(
    "open_files", [find_model_files, lambda place: open_gguf_files(Path(place))]
)
def test_the_home_directory_of_a_user_who_is_not_known_holds_no_files(open_files):
    with pytest.raises(ModelFilesError, match="~nobody-of-this-name"):
        open_files("~nobody-of-this-name/model.gguf")


def test_files_of_a_directory_are_read_when_they_are_asked_for(tmp_path):
    files = open_model_files(tmp_path)
    assert files.chat_template is None
    assert files.settings_name == str(tmp_path / "config.json")
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    assert files.settings == {"model_type": "llama"}
    (tmp_path / "config.json").unlink()
    assert files.settings == {"model_type": "llama"}


def test_open_tokenizer_opens_the_model_s_own_unless_another_is_asked_for(tmp_path):
    (tmp_path / "tokenizer.json").touch()
    files = open_model_files(tmp_path)
    assert files.open_tokenizer(str) == f"tokenizers:{tmp_path / 'tokenizer.json'}"
    assert files.open_tokenizer(str, "toy:numbers") == "toy:numbers"


def test_gguf_file_without_the_package_says_what_to_install(tmp_path):
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    code = f"""
import sys
sys.modules["gguf"] = None
import ticore
for place in ("embedded", "sentencepiece", "tokenizers"):
    load = ticore.load_model if place == "embedded" else ticore.load_tokenizer
    try:
        load(place + ":{tmp_path}/model.gguf")
    except ticore.errors.MissingExtraError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 3
    assert all("needs the package 'gguf" in line and "; run: pip" in line for line in lines)
