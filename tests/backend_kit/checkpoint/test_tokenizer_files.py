"""Which file a tokenizer is read from, and that it goes with its model."""

import dataclasses
from pathlib import Path

import pytest

from ticore.backend_kit.checkpoint import open_tokenizer, require_fits
from ticore.errors import ModelFilesError


@dataclasses.dataclass
class Sized:
    """As much of a tokenizer as is asked for."""

    vocab_size: int


@pytest.fixture
def opened():
    """Places that `load` was asked for."""
    return []


@pytest.fixture
def load(opened):
    def load(place):
        opened.append(place)
        backend, _, path = place.partition(":")
        if backend == "sentencepiece" and Path(path).read_text() in ("ranks", "\ndamaged"):
            raise ModelFilesError("no SentencePiece")
        return Sized(50)

    return load


def test_open_tokenizer_prefers_tokenizer_model(tmp_path, load, opened):
    original, converted = tmp_path / "tokenizer.model", tmp_path / "tokenizer.json"
    converted.touch()
    open_tokenizer(tmp_path, load)
    original.touch()
    open_tokenizer(tmp_path, load)
    assert opened == [f"tokenizers:{converted}", f"sentencepiece:{original}"]


def test_open_tokenizer_skips_a_tokenizer_model_of_ranks(tmp_path, load, opened):
    original, converted = tmp_path / "tokenizer.model", tmp_path / "tokenizer.json"
    original.write_text("ranks")
    with pytest.raises(ModelFilesError, match="no SentencePiece"):
        open_tokenizer(tmp_path, load)
    converted.touch()
    open_tokenizer(tmp_path, load)
    assert opened[-1] == f"tokenizers:{converted}"


def test_open_tokenizer_does_not_pass_over_a_damaged_tokenizer_model(tmp_path, load):
    (tmp_path / "tokenizer.model").write_text("\ndamaged")
    (tmp_path / "tokenizer.json").touch()
    with pytest.raises(ModelFilesError, match="no SentencePiece"):
        open_tokenizer(tmp_path, load)


def test_open_tokenizer_opens_a_tekken_json_last(tmp_path, load, opened):
    tekken, converted = tmp_path / "tekken.json", tmp_path / "tokenizer.json"
    tekken.touch()
    open_tokenizer(tmp_path, load)
    converted.touch()
    open_tokenizer(tmp_path, load)
    assert opened == [f"tiktoken:{tekken}", f"tokenizers:{converted}"]


def test_open_tokenizer_refuses_a_directory_without_tokenizer(tmp_path, load):
    with pytest.raises(ModelFilesError, match=r"tokenizer\.model or .*, found neither"):
        open_tokenizer(tmp_path, load)


def test_require_fits_refuses_more_ids_than_logits(tmp_path):
    require_fits(tmp_path, Sized(50), 50)
    with pytest.raises(ModelFilesError, match=r"at most 49 ids.* found 50"):
        require_fits(tmp_path, Sized(50), 49)
