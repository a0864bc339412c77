"""What a model reads before a text, as the files beside it say."""

import json

import pytest

from ticore.backend_kit.checkpoint import StartToken, find_start_token
from ticore.errors import ModelFilesError, PromptError

BYTE_LEVEL = {"type": "ByteLevel"}


def template(first):
    """A post-processor of tokenizer.json that puts the id `first` before a text."""
    return {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A"}}],
        "special_tokens": {"<s>": {"id": "<s>", "ids": [first], "tokens": ["<s>"]}},
    }


def sequence(*processors):
    return {"type": "Sequence", "processors": list(processors)}


@pytest.mark.parametrize(
    ("files", "bos", "start"),
    [
        ({}, 1, StartToken(1, True)),
        ({}, None, StartToken(2, False)),
        ({"tokenizer_config.json": {}}, 1, StartToken(1, True)),
        ({"tokenizer_config.json": {"add_bos_token": True}}, 1, StartToken(1, True)),
        ({"tokenizer_config.json": {"add_bos_token": True}}, None, StartToken(2, False)),
        ({"tokenizer_config.json": {"add_bos_token": False}}, 1, StartToken(1, False)),
        ({"tokenizer_config.json": {"add_bos_token": None}}, 1, StartToken(1, True)),
        ({"tokenizer.json": {}}, 1, StartToken(1, False)),
        ({"tokenizer.json": {"post_processor": None}}, 1, StartToken(1, False)),
        ({"tokenizer.json": {"post_processor": BYTE_LEVEL}}, None, StartToken(2, False)),
        ({"tokenizer.json": {"post_processor": template(7)}}, 1, StartToken(7, True)),
        (
            {"tokenizer.json": {"post_processor": sequence(BYTE_LEVEL, template(7))}},
            None,
            StartToken(7, True),
        ),
        (
            {"tokenizer_config.json": {}, "tokenizer.json": {"post_processor": template(7)}},
            1,
            StartToken(7, True),
        ),
        (
            {
                "tokenizer_config.json": {"add_bos_token": False},
                "tokenizer.json": {"post_processor": template(7)},
            },
            1,
            StartToken(1, False),
        ),
    ],
)
def test_find_start_token_uses_the_first_file_that_decides(files, bos, start, tmp_path):
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    assert find_start_token(tmp_path, bos, 2, 50) == start


@pytest.mark.parametrize("first", [50, -1])
def test_find_start_token_refuses_a_token_without_logits(first, tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps({"post_processor": template(first)}))
    with pytest.raises(ModelFilesError, match=f"start token below 50, found {first}"):
        find_start_token(tmp_path, 1, 2, 50)


@pytest.mark.parametrize("name", ["tokenizer_config.json", "tokenizer.json"])
@pytest.mark.parametrize(
    ("content", "message"), [("{", "expected JSON"), ("[]", "JSON object, found list")]
)
def test_find_start_token_refuses_damaged_files(name, content, message, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(ModelFilesError, match=message):
        find_start_token(tmp_path, 1, 2, 50)


def test_start_token_is_prepended_always_or_to_empty_texts():
    assert StartToken(1, True).prepended_to([]) == StartToken(1, False).prepended_to([]) == [1]
    assert StartToken(1, True).prepended_to([5, 6]) == [1, 5, 6]
    assert (
        StartToken(1, False).prepended_to([5, 6])
        == StartToken(None, False).prepended_to([5, 6])
        == [5, 6]
    )
    with pytest.raises(PromptError, match="at least one token"):
        StartToken(None, False).prepended_to([])
