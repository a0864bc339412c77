"""The JSON objects of a model's directory."""

import json

import pytest

from ticore.backend_kit.checkpoint import read_config, read_object
from ticore.errors import ModelFilesError


def write(folder, name, content):
    (folder / name).write_text(json.dumps(content))


def test_read_object_refuses_a_missing_file(tmp_path):
    with pytest.raises(ModelFilesError, match=r"a\.json: expected a list, found no readable file"):
        read_object(tmp_path / "a.json", "a list")
    with pytest.raises(ModelFilesError, match=r"config\.json: .*no readable file"):
        read_config(tmp_path)


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"", b"[" * 100_000])
@pytest.mark.parametrize("name", ["config.json", "generation_config.json"])
def test_read_object_refuses_what_is_not_json(name, content, tmp_path):
    write(tmp_path, "config.json", {})
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelFilesError, match="expected JSON"):
        read_config(tmp_path)


def test_read_object_refuses_json_that_is_no_object(tmp_path):
    write(tmp_path, "config.json", [])
    with pytest.raises(ModelFilesError, match="expected a JSON object, found list"):
        read_config(tmp_path)


def test_read_config_takes_special_ids_from_generation_config(tmp_path):
    config = {"model_type": "llama", "bos_token_id": 1, "eos_token_id": 2}
    write(tmp_path, "config.json", config)
    assert read_config(tmp_path) == config
    write(tmp_path, "generation_config.json", {"eos_token_id": [2, 7], "temperature": 0.6})
    assert read_config(tmp_path) == config | {"eos_token_id": [2, 7]}
    write(tmp_path, "generation_config.json", {"bos_token_id": 5, "eos_token_id": None})
    assert read_config(tmp_path) == config | {"bos_token_id": 5}
