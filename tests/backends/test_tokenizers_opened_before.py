"""A tokenizer.json that was opened before is the same tokenizer, without its library at first."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from tests.support.threads import THREADS, run_together
from tests.support.tokenizers import HUGGING_FACE
from ticore.errors import ModelFilesError
from ticore.interfaces import TokenizerStructure
from ticore_tokenizers import HuggingFaceTokenizer, _opened_before

TEXTS = (
    "",
    " It's 12 o'clock:\n\nnai\u0308ve",
    "日本\u2581\U0001f600",
    "<|endoftext|> </s>a",
    "\x00\ufffd",
)
STORED = sorted(HUGGING_FACE.keys() - {"hf-metaspace"})


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(_opened_before, "_MUCH", 0)
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path / "tables"))
    return tmp_path / "tables"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written("hf-cl100k-nfc", tmp_path)


def written(name: str, folder: Path) -> Path:
    path = folder / "tokenizer.json"
    path.write_text(HUGGING_FACE[name]()._library.to_str())
    return path


def is_built(tokenizer: HuggingFaceTokenizer) -> bool:
    return "_library" in vars(tokenizer)


def facts(tokenizer: HuggingFaceTokenizer) -> tuple[object, ...]:
    """All that a tokenizer says before it reads a text."""
    return (
        tokenizer.spelled,
        tokenizer.special_ids,
        tokenizer.unknown_ids,
        tokenizer.digest(),
        tokenizer.losses,
        tokenizer.no_structure_reason,
        tokenizer.reader_digest,
    )


def assert_same_structure(one: TokenizerStructure | None, other: TokenizerStructure | None) -> None:
    assert one is not None
    assert other is not None
    for field in fields(TokenizerStructure):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "normalize":
            assert (a is None) == (b is None)
            assert a is None or [a(text) for text in TEXTS] == [b(text) for text in TEXTS]
        elif isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)
        else:
            assert (type(a), a) == (type(b), b), field.name


@pytest.mark.parametrize("name", STORED)
def test_tokenizer_that_was_opened_before_is_the_same(name: str, tmp_path: Path) -> None:
    path = written(name, tmp_path)
    first, again = HuggingFaceTokenizer.from_file(path), HuggingFaceTokenizer.from_file(path)
    assert_same_structure(first.structure(), again.structure())
    assert facts(first) == facts(again)
    assert (is_built(first), is_built(again)) == (True, False)
    path.unlink()  # what is built later does not depend on the file
    copied = pickle.loads(pickle.dumps(again))
    for text in TEXTS:
        ids = first.encode(text)
        assert again.encode(text) == copied.encode(text) == ids
        assert again.decode(ids) == copied.decode(ids) == first.decode(ids)
    assert again.encode_batch(TEXTS) == first.encode_batch(TEXTS)


def test_tokenizer_whose_normalizer_is_no_function_of_the_library_is_built_each_time(
    tmp_path: Path,
) -> None:
    path = written("hf-metaspace", tmp_path)
    assert all(is_built(HuggingFaceTokenizer.from_file(path)) for _ in range(2))


def test_file_that_changed_is_opened_again(file: Path) -> None:
    HuggingFaceTokenizer.from_file(file)
    state = json.loads(file.read_text())
    state["normalizer"] = {"type": "NFD"}
    file.write_text(json.dumps(state))
    changed = HuggingFaceTokenizer.from_file(file)
    assert is_built(changed)
    assert changed.structure().normalizer == "nfd"  # type: ignore[union-attr]  # it has a structure


def test_code_that_changed_opens_a_file_again(
    file: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    HuggingFaceTokenizer.from_file(file)
    code = "ticore.backend_kit._reader_digest.code_digest"
    monkeypatch.setattr(code, lambda *_: "other code")
    assert [is_built(HuggingFaceTokenizer.from_file(file)) for _ in range(2)] == [True, False]
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(code, lambda *_: "")
    assert all(is_built(HuggingFaceTokenizer.from_file(file)) for _ in range(2))


def test_damaged_entry_is_made_again(file: Path, folder: Path) -> None:
    HuggingFaceTokenizer.from_file(file)
    (entry,) = folder.iterdir()
    content = bytearray(entry.read_bytes())
    content[len(content) // 2] ^= 1
    entry.write_bytes(content)
    assert [is_built(HuggingFaceTokenizer.from_file(file)) for _ in range(2)] == [True, False]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decoder": {"type": "Strip", "content": "a", "start": 1, "stop": 0}}, "expected"),
        ({"model": {"type": "BPE", "vocab": {"a": 10**9}, "merges": []}}, "found the id"),
        ({"version": "9"}, "found something else"),
    ],
)
def test_file_that_cannot_be_used_is_refused_each_time(
    change: dict[str, object], message: str, file: Path, folder: Path
) -> None:
    HuggingFaceTokenizer.from_file(file)  # an entry for the sound file
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    found = set()
    for _ in range(2):
        with pytest.raises(ModelFilesError, match=message) as error:
            HuggingFaceTokenizer.from_file(file)
        found.add(str(error.value))
    assert len(found) == 1
    assert len(list(folder.iterdir())) == 1


def test_tokens_that_hold_the_separator_are_not_stored(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_opened_before, "_BETWEEN", b"th")
    assert all(is_built(HuggingFaceTokenizer.from_file(file)) for _ in range(2))


def test_library_is_built_once_for_many_threads(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = HuggingFaceTokenizer.from_file(file).encode(TEXTS[1])
    built = []
    whole = _opened_before.decompressed
    monkeypatch.setattr(
        _opened_before, "decompressed", lambda source: built.append(1) or whole(source)
    )
    again = HuggingFaceTokenizer.from_file(file)
    found = run_together(lambda _: again.encode(TEXTS[1]))
    assert found == [expected] * THREADS
    assert len(built) == 1
