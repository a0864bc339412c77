"""Which tokens a model's files add to its tokenizer.model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ticore.backend_kit.checkpoint import DirectoryFiles, find_added_tokens
from ticore.errors import ModelFilesError

START, END = "<|im_start|>", "<|im_end|>"


def write(folder: Path, **files: object) -> None:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tokenizer.model").write_bytes(b"\n")
    return tmp_path


def test_added_tokens_are_those_that_any_file_names(folder: Path) -> None:
    assert find_added_tokens(folder) == frozenset()
    write(folder, tokenizer={"added_tokens": [{"id": 3, "content": START}, {"id": 4}, 5]})
    assert find_added_tokens(folder) == {START}
    write(folder, added_tokens={END: 32000})
    assert find_added_tokens(folder) == {END}  # tokenizer.json is read only where no other tells
    write(folder, tokenizer_config={"added_tokens_decoder": {"3": {"content": START}, "4": "a"}})
    assert find_added_tokens(folder) == {START, END}
    assert DirectoryFiles(folder).added_tokens == {START, END}


@pytest.mark.parametrize("stated", [None, "abc", 7, {"content": START}])
def test_what_is_no_list_of_tokens_names_none(stated: object, folder: Path) -> None:
    write(folder, tokenizer={"added_tokens": stated})
    assert find_added_tokens(folder) == frozenset()


def test_files_without_a_sentencepiece_model_say_it_in_their_tokenizer(tmp_path: Path) -> None:
    write(tmp_path, added_tokens={END: 32000})
    assert find_added_tokens(tmp_path) == frozenset()


def test_a_file_that_is_damaged_is_refused(folder: Path) -> None:
    (folder / "added_tokens.json").write_text("{")
    with pytest.raises(ModelFilesError, match=r"added_tokens\.json: expected JSON"):
        find_added_tokens(folder)
