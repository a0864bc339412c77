"""Prompts are bundled, or come from a folder of data."""

import pytest

from benchmarks._harness.cli import sampling_command
from benchmarks._harness.prompts import chosen_prompts, load_prompts
from ticore.errors import FileError


def write(folder, text):
    (folder / "prompts").mkdir()
    (folder / "prompts" / "ja.jsonl").write_text(text, encoding="utf-8")


def test_load_prompts_gives_bundled_ones_when_no_folder_is_named():
    found = [load_prompts(None, language) for language in ("en", "ja", "zh")]
    assert all(len(set(prompts)) > 5 for prompts in found)
    assert len({prompt for prompts in found for prompt in prompts}) == sum(map(len, found))


@pytest.mark.parametrize(
    ("given", "language"),
    [
        ([], "en"),
        (["--model", "tiny-ja"], "ja"),
        (["--model", "tiny-zh", "--language", "ja"], "ja"),
    ],
)
def test_prompts_are_in_the_language_of_the_model_unless_another_is_named(given, language):
    """A model that goes on from a language it was not trained on writes other texts."""
    options = sampling_command("some", "usage", 1).parse_args(given)
    assert chosen_prompts(options, options.model) == load_prompts(None, language)


def test_load_prompts_raises_when_none_are_bundled():
    with pytest.raises(FileError, match="with --data"):
        load_prompts(None, "fr")


def test_load_prompts_reads_the_file_of_the_language(tmp_path):
    write(tmp_path, '{"id": "1", "text": "猫"}\n\n')
    assert load_prompts(tmp_path, "ja") == ["猫"]


@pytest.mark.parametrize("text", ["", "no JSON", '{"prompt": "猫"}'])
def test_load_prompts_raises_when_the_file_holds_none(tmp_path, text):
    write(tmp_path, text)
    with pytest.raises(FileError, match="expected prompts in"):
        load_prompts(tmp_path, "ja")


def test_load_prompts_raises_when_the_file_is_missing(tmp_path):
    with pytest.raises(FileError, match=r"name a folder that has this file with --data"):
        load_prompts(tmp_path, "en")
