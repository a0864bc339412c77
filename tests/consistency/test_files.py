"""Other files beside a tokenizer's: what a receiver who opens them reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.tokenizers import HUGGING_FACE, SENTENCEPIECE
from ticore.consistency._files import notes_on_files
from ticore.registry import load_tokenizer


def folder_with(folder: Path, *files: str, **config: object) -> Path:
    """A folder with a tokenizer.json, a tokenizer.model or a tokenizer_config.json."""
    write: dict[str, Callable[[Path], Any]] = {
        "tokenizer.json": lambda p: HUGGING_FACE["hf-llama"]()._library.save(str(p)),
        "tokenizer.model": lambda p: p.write_bytes(
            SENTENCEPIECE["sp-bpe"]()._library.serialized_model_proto()
        ),
        "tokenizer_config.json": lambda p: p.write_text(json.dumps(config)),
    }
    for name in files:
        write[name](folder / name)
    return folder


def notes(place: str) -> list[str]:
    return [*notes_on_files(place, load_tokenizer(place))]


def test_a_file_by_itself_has_no_notes(tmp_path: Path) -> None:
    folder_with(tmp_path, "tokenizer.model")
    assert notes(f"sentencepiece:{tmp_path}/tokenizer.model") == []
    assert notes("tiny-en") == []


def test_another_file_with_other_ids_is_named(tmp_path: Path) -> None:
    folder_with(tmp_path, "tokenizer.model", "tokenizer.json")
    other, model = notes(f"sentencepiece:{tmp_path}/tokenizer.model")
    assert other.startswith("tokenizer.json beside it reads")
    assert "as other ids" in other
    assert other.endswith(f"tokenizers:{tmp_path}/tokenizer.json")
    assert f"torch:{tmp_path}, is opened with tokenizer.model" in model
    opened, other, _ = notes(f"tokenizers:{tmp_path}")
    assert opened.endswith("opens tokenizer.json there")
    assert other.startswith("tokenizer.model beside it")


def test_another_file_with_the_same_ids_is_named(tmp_path: Path) -> None:
    folder_with(tmp_path, "tokenizer.json")
    (tmp_path / "mine.json").write_bytes((tmp_path / "tokenizer.json").read_bytes())
    (note,) = notes(f"tokenizers:{tmp_path}/mine.json")
    assert "sample texts as the same ids" in note


def test_another_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    folder_with(tmp_path, "tokenizer.json")
    (tmp_path / "tokenizer.model").write_bytes(b"IQ== 0\n")
    (_, note, _) = notes(f"tokenizers:{tmp_path}")
    assert note.startswith("tokenizer.model beside it was not compared")


SETTINGS = ("clean_up_tokenization_spaces", "split_special_tokens", "add_prefix_space", "legacy")


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("value", [True, False, None])
def test_settings_that_change_what_transformers_reads_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, value: object
) -> None:
    monkeypatch.setattr("ticore.consistency._files._others", lambda *_: ())
    folder_with(tmp_path, "tokenizer.json", "tokenizer_config.json", **{setting: value})
    found = notes(f"tokenizers:{tmp_path}/tokenizer.json")
    assert [setting in note for note in found] == [True] * (value is True)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 100_000])
def test_a_damaged_config_is_left_to_transformers(tmp_path: Path, content: bytes) -> None:
    folder_with(tmp_path, "tokenizer.json")
    (tmp_path / "tokenizer_config.json").write_bytes(content)
    assert all(note.startswith("transformers") for note in notes(f"tokenizers:{tmp_path}")[1:])


def test_transformers_may_read_a_folder_otherwise(tmp_path: Path) -> None:
    """Its LlamaTokenizer takes only the vocabulary of a tokenizer.json."""
    pytest.importorskip("transformers")
    folder_with(
        *(tmp_path, "tokenizer.json", "tokenizer_config.json"),
        tokenizer_class="LlamaTokenizer",
        legacy=False,
    )
    place = f"tokenizers:{tmp_path}#transformers"
    theirs, ours = load_tokenizer(place), load_tokenizer(f"tokenizers:{tmp_path}")
    (note,) = notes(f"tokenizers:{tmp_path}/tokenizer.json")
    assert place in note
    assert theirs.encode(" a") != ours.encode(" a")
    (back,) = notes(place)
    assert back.startswith("tokenizer.json beside it reads")
