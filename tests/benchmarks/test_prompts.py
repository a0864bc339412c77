"""Prompts come along, or lie in a folder of data."""

import pytest

from benchmarks.prompts import prompts
from ticore.errors import FileError


def test_prompts(tmp_path):
    assert len(prompts(None, "en")) > 5
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "ja.jsonl").write_text('{"id": "1", "text": "猫"}\n', encoding="utf-8")
    assert prompts(tmp_path, "ja") == ["猫"]
    with pytest.raises(FileError, match="expected prompts in"):
        prompts(tmp_path, "en")
