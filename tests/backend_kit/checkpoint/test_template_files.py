"""A template is found wherever a user points at one, with its special tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ticore.backend_kit.checkpoint import read_chat_template
from ticore.errors import ModelFilesError
from ticore.interfaces import ChatTemplate

SETTINGS = {"chat_template": "old", "bos_token": {"content": "<s>"}, "model_max_length": 1}
TOKENS = {"bos_token": "<s>"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(SETTINGS))
    return tmp_path


def test_each_kind_of_place_has_its_template(folder: Path) -> None:
    old, new = ChatTemplate("old", TOKENS), ChatTemplate("é", TOKENS)
    assert read_chat_template(folder) == old
    assert read_chat_template(folder / "tokenizer_config.json") == old
    (folder / "chat_template.jinja").write_text("é")
    assert read_chat_template(folder) == new
    assert read_chat_template(folder / "chat_template.jinja") == new
    assert read_chat_template(folder / "tokenizer_config.json") == old
    other = folder / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    assert read_chat_template(other / "mine.txt") == ChatTemplate("mine")


def test_places_without_a_template_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match="found no such file"):
        read_chat_template(tmp_path / "absent.jinja")
    with pytest.raises(ModelFilesError, match="found no such file"):
        read_chat_template(Path("{% for m in messages %}{{ m.content }}{% endfor %}" * 99))
    with pytest.raises(ModelFilesError, match="expected a chat template, found none"):
        read_chat_template(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("{}")
    with pytest.raises(ModelFilesError, match="expected a chat template, found none"):
        read_chat_template(tmp_path / "tokenizer_config.json")
    (tmp_path / "bad.jinja").write_bytes(b"\xff")
    with pytest.raises(ModelFilesError, match="not UTF-8"):
        read_chat_template(tmp_path / "bad.jinja")
