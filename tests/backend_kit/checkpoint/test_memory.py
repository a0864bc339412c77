"""Running out of memory is said of what is loaded."""

from pathlib import Path

import pytest

from ticore.backend_kit.checkpoint import within_memory
from ticore.errors import ModelFilesError
from ticore.registry import load_tokenizer
from ticore_sentencepiece import _tokenizer as tokenizer


@pytest.mark.parametrize(
    ("kind", "advice"),
    [("model", "use a smaller one, or a dtype of fewer bytes$"), ("tokenizer", "a smaller one$")],
)
def test_within_memory_turns_memory_error_into_model_files_error(kind, advice):
    with (
        pytest.raises(ModelFilesError, match=rf"^place: expected a {kind} that .*{advice}"),
        within_memory(Path("place"), kind),
    ):
        raise MemoryError


def test_within_memory_leaves_other_errors_alone():
    with pytest.raises(ValueError, match="other"), within_memory(Path("place"), "model"):
        raise ValueError("other")


def test_load_tokenizer_says_when_memory_is_not_enough(tmp_path, monkeypatch):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(tokenizer, "parse", fail)
    (tmp_path / "a.model").write_bytes(b"x")
    with pytest.raises(ModelFilesError, match=r"a\.model: expected a tokenizer that this"):
        load_tokenizer(f"sentencepiece:{tmp_path}/a.model")
