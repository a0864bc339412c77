"""Where the template of dialogues is found."""

import json

import pytest

from ticore.backend_kit.checkpoint import find_chat_template, find_special_tokens
from ticore.errors import ModelFilesError

SEVERAL = [{"name": "tool", "template": "t"}, {"name": "default", "template": "d"}, 3]


@pytest.fixture
def folder(tmp_path):
    """`folder(stated)`: with a tokenizer_config.json that states this template."""

    def folder(stated):
        (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": stated}))
        return tmp_path

    return folder


@pytest.mark.parametrize(
    ("stated", "template"), [("{{ a }}", "{{ a }}"), (SEVERAL, "d"), (SEVERAL[:1], None)]
)
def test_template_is_that_of_the_tokenizer_config(stated, template, folder):
    assert find_chat_template(folder(stated)) == template


def test_own_file_is_preferred(folder):
    (folder("a") / "chat_template.jinja").write_text("é {{ b }}\n", encoding="utf-8")
    assert find_chat_template(folder("a")) == "é {{ b }}\n"


def test_folder_without_files_has_no_template(tmp_path):
    assert find_chat_template(tmp_path) is None


@pytest.mark.parametrize("stated", [3, {"default": "d"}, [{"name": "default", "template": 3}]])
def test_template_that_is_no_text_is_refused(stated, folder):
    with pytest.raises(ModelFilesError, match=r"expected chat_template to be a text, found"):
        find_chat_template(folder(stated))


def test_file_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "chat_template.jinja").write_bytes(b"\xff\xfe")
    with pytest.raises(ModelFilesError, match=r"jinja: expected a template, .*\(not UTF-8\)"):
        find_chat_template(tmp_path)


def test_special_tokens_are_those_of_the_tokenizer_config(tmp_path):
    assert find_special_tokens(tmp_path) == {}
    config = {"bos_token": "<s>", "eos_token": {"content": "</s>"}, "pad_token": None}
    config |= {"add_bos_token": True, "unk_token": 3, "model_max_length": 5, "name": "a"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    assert find_special_tokens(tmp_path) == {"bos_token": "<s>", "eos_token": "</s>"}
