"""A tokenizer is tested once; another file, setting or code is another tokenizer."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.tokenizers import HUGGING_FACE, SENTENCEPIECE, ranks_of_trained
from ticore.backend_kit import reader_digest
from ticore.consistency import Verifier
from ticore.registry import load_tokenizer
from ticore_tiktoken._ranks import write_ranks


def of_sentencepiece(folder: Path) -> str:
    file = folder / "tokenizer.model"
    file.write_bytes(SENTENCEPIECE["sp-bpe"]()._library.serialized_model_proto())
    return f"sentencepiece:{file}"


def of_tokenizers(folder: Path) -> str:
    file = folder / "tokenizer.json"
    file.write_text(HUGGING_FACE["hf-gpt2"]()._library.to_str())
    return f"tokenizers:{file}"


def of_tiktoken(folder: Path) -> str:
    file = folder / "ranks.tiktoken"
    file.write_bytes(write_ranks(ranks_of_trained()))
    return f"tiktoken:{file}#gpt2"


def of_tiny_zh(folder: Path) -> str:
    return "tiny-zh"


def fail(*_: object, **__: object) -> None:
    raise AssertionError("expected no test, found one")


WRITTEN = [of_sentencepiece, of_tokenizers, of_tiktoken, of_tiny_zh]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path / "tables"))


@pytest.mark.parametrize("write", WRITTEN)
def test_tokenizer_from_a_file_is_tested_once(
    write: Callable[[Path], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = write(tmp_path)
    first = load_tokenizer(place)
    checks = Verifier(first).checks
    assert checks > 0
    for test in ("require_deterministic_round_trip", "_self_test"):
        monkeypatch.setattr(f"ticore.consistency._verifier.{test}", fail)
    for again in (load_tokenizer(place), pickle.loads(pickle.dumps(first))):
        assert Verifier(again).checks == checks


def test_other_ways_to_split_are_other_tokenizers(tmp_path: Path) -> None:
    ranks = of_tiktoken(tmp_path).removesuffix("#gpt2")
    one, other = (load_tokenizer(f"{ranks}#{pattern}") for pattern in ("gpt2", "cl100k"))
    assert getattr(one, "reader_digest", "") != getattr(other, "reader_digest", "")


def test_reader_digest_tells_files_libraries_and_code_apart(tmp_path: Path) -> None:
    adapter, other = tmp_path / "adapter", tmp_path / "other"
    for folder in (adapter, other):
        folder.mkdir()
        (folder / "code.py").write_text(f"NAME = {folder.name!r}")
    found = {
        reader_digest(b"file", adapter, "1"),
        reader_digest(b"another", adapter, "1"),
        reader_digest(b"file", adapter, "2"),
        reader_digest(b"file", other, "1"),
    }
    assert len(found) == 4
    assert reader_digest(b"file", adapter, "1") in found


def test_reader_digest_is_empty_where_there_is_no_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ticore.backend_kit._reader_digest.code_digest", lambda *_: "")
    assert reader_digest(b"file", Path(), "1") == ""
