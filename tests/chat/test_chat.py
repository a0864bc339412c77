"""Conversations: what is one, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ticore import Chat
from ticore.errors import InputFileError, SettingsError, WrongTypeError

MESSAGES = [{"role": "user", "content": "Hé"}, {"role": "assistant", "content": "Ho"}]


def test_a_conversation_keeps_its_messages() -> None:
    assert Chat(MESSAGES).to_list() == MESSAGES
    assert Chat(MESSAGES, system="Be brief.").to_list() == [
        {"role": "system", "content": "Be brief."},
        *MESSAGES,
    ]
    assert Chat.ask("Hé") == Chat(MESSAGES[:1])
    assert hash(Chat.ask("Hé")) == hash(Chat(MESSAGES[:1]))


@pytest.mark.parametrize("document", [MESSAGES, {"messages": MESSAGES, "model": "x"}])
def test_a_conversation_is_read_from_a_file(tmp_path: Path, document: object) -> None:
    (tmp_path / "chat.json").write_text(json.dumps(document), encoding="utf-8")
    assert Chat.load(tmp_path / "chat.json") == Chat(MESSAGES)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[]", b"[1]", b'"user"', b'[{"role": "user"}]', b"\xff", b"[" * 10**5]
)
def test_a_file_without_a_conversation_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "chat.json").write_bytes(content)
    with pytest.raises(InputFileError, match=r"chat\.json: expected a conversation"):
        Chat.load(tmp_path / "chat.json")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="nothing"):
        Chat.load(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("messages", "error"),
    [
        ([], SettingsError),
        ("user", WrongTypeError),
        (None, WrongTypeError),
        ({"role": "user", "content": "a"}, WrongTypeError),
        ([{"role": "user"}], SettingsError),
        ([{"role": "user", "content": "a", "name": "b"}], SettingsError),
        ([{"role": "user", "content": ["a"]}], WrongTypeError),
        ([{"role": "user", "content": "\udc00"}], SettingsError),
        (["user"], WrongTypeError),
    ],
)
def test_what_is_no_conversation_is_refused(messages: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        Chat(messages)  # type: ignore[arg-type]  # the point of the test
