"""What a model reads before a text, as the files beside it say."""

import json

import pytest

from ticore.checkpoint import Start, find_start
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
        ({}, 1, Start(1, True)),
        ({}, None, Start(2, False)),
        ({"tokenizer_config.json": {}}, 1, Start(1, True)),
        ({"tokenizer_config.json": {"add_bos_token": True}}, 1, Start(1, True)),
        ({"tokenizer_config.json": {"add_bos_token": True}}, None, Start(2, False)),
        ({"tokenizer_config.json": {"add_bos_token": False}}, 1, Start(1, False)),
        ({"tokenizer_config.json": {"add_bos_token": None}}, 1, Start(1, True)),
        ({"tokenizer.json": {}}, 1, Start(1, False)),
        ({"tokenizer.json": {"post_processor": None}}, 1, Start(1, False)),
        ({"tokenizer.json": {"post_processor": BYTE_LEVEL}}, None, Start(2, False)),
        ({"tokenizer.json": {"post_processor": template(7)}}, 1, Start(7, True)),
        (
            {"tokenizer.json": {"post_processor": sequence(BYTE_LEVEL, template(7))}},
            None,
            Start(7, True),
        ),
        (
            {"tokenizer_config.json": {}, "tokenizer.json": {"post_processor": template(7)}},
            1,
            Start(7, True),
        ),
        (
            {
                "tokenizer_config.json": {"add_bos_token": False},
                "tokenizer.json": {"post_processor": template(7)},
            },
            1,
            Start(1, False),
        ),
    ],
)
def test_what_decides(files, bos, start, tmp_path):
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    assert find_start(tmp_path, bos, 2, 50) == start


@pytest.mark.parametrize("first", [50, -1])
def test_a_start_token_without_logits(first, tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps({"post_processor": template(first)}))
    with pytest.raises(ModelFilesError, match=f"start token below 50, found {first}"):
        find_start(tmp_path, 1, 2, 50)


@pytest.mark.parametrize("name", ["tokenizer_config.json", "tokenizer.json"])
@pytest.mark.parametrize(
    ("content", "message"), [("{", "expected JSON"), ("[]", "JSON object, found list")]
)
def test_damaged(name, content, message, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(ModelFilesError, match=message):
        find_start(tmp_path, 1, 2, 50)


def test_what_is_read_before_a_text():
    assert Start(1, True).before([]) == Start(1, False).before([]) == [1]
    assert Start(1, True).before([5, 6]) == [1, 5, 6]
    assert Start(1, False).before([5, 6]) == Start(None, False).before([5, 6]) == [5, 6]
    with pytest.raises(PromptError, match="at least one token"):
        Start(None, False).before([])
