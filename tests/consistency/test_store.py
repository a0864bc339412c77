"""Tables on disk: what is stored comes back, and what cannot be trusted is as good as absent."""

import hashlib

import numpy as np
import pytest

from tests.tokenizers import TRAINED
from ticore.consistency import mask, store
from ticore.consistency.oracle import Oracle

ARRAYS = {
    "bits": np.array([True, False]),
    "numbers": np.array([[1, -2], [3, 4]], dtype=np.int32),
    "none": np.zeros((0, 5), dtype=bool),
    "text": np.frombuffer("é".encode(), dtype=np.uint8),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path / "tables"))
    return tmp_path / "tables"


def stored(folder):
    (file,) = folder.iterdir()
    return file


def test_arrays_come_back_as_they_were():
    store.save("name", ARRAYS)
    found = store.load("name")
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


def test_what_was_not_stored():
    assert store.load("name") is None
    store.save("name", ARRAYS)
    assert store.load("other") is None


def test_the_later_arrays_count():
    store.save("name", ARRAYS)
    store.save("name", {"numbers": np.arange(3)})
    assert store.load("name").keys() == {"numbers"}


def test_where_tables_are_kept(folder, monkeypatch):
    assert store.folder() == folder
    monkeypatch.delenv("TICORE_CACHE")
    assert store.folder().name == "ticore"


def test_nothing_but_the_tables_is_left_in_the_folder(folder):
    store.save("name", ARRAYS)
    assert stored(folder).name == "name.tables"


@pytest.mark.parametrize("at", [0, 5, 20, 60, 200, -1])
def test_a_damaged_file_is_as_good_as_absent(folder, at):
    store.save("name", ARRAYS)
    content = bytearray(stored(folder).read_bytes())
    content[at] ^= 1
    stored(folder).write_bytes(content)
    assert store.load("name") is None


@pytest.mark.parametrize("kept", [0, 1, 16, 40, 48, 300, -1])
def test_a_truncated_file_is_as_good_as_absent(folder, kept):
    store.save("name", ARRAYS)
    stored(folder).write_bytes(stored(folder).read_bytes()[:kept])
    assert store.load("name") is None


def test_a_file_of_another_kind_is_as_good_as_absent(folder):
    store.save("name", ARRAYS)
    body = stored(folder).read_bytes()
    for content in (b"not a table", hashlib.sha256(body).digest() + body, body + b"more"):
        stored(folder).write_bytes(content)
        assert store.load("name") is None


def test_a_folder_in_the_place_of_a_file(folder):
    (folder / "name.tables").mkdir(parents=True)
    assert store.load("name") is None
    store.save("name", ARRAYS)
    assert store.load("name") is None


@pytest.mark.parametrize("inner", ["", "deeper/still"])
def test_where_nothing_can_be_written_nothing_is_stored(tmp_path, monkeypatch, inner):
    """A file stands where the folder should be; being root would not help."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path / "file" / inner))
    store.save("name", ARRAYS)
    assert store.load("name") is None
    assert (tmp_path / "file").read_text() == ""


def answers(tokenizer, mode):
    """Masks along a text, from an engine that finds tables or makes them."""
    engine = mask.table_engine(Oracle(tokenizer, mode))
    state, found = engine.start(), [engine.mask(engine.start())]
    for token in tokenizer.encode("It's 12  o'clock:\n\nnaïve トークン"):
        state = engine.step(state, token)
        found.append(engine.mask(state))
    return np.array(found)


@pytest.fixture
def made(monkeypatch):
    """The calls of what makes tables."""
    calls = []
    build = mask.build
    monkeypatch.setattr(mask, "build", lambda *args: calls.append(args) or build(*args))
    return calls


@pytest.mark.parametrize("mode", ["prefix", "viable"])
@pytest.mark.parametrize("name", ["sp-bpe", "sp-bpe-nfkc", "hf-cl100k-nfc", "hf-ignore-merges"])
def test_stored_tables_answer_like_new_ones(name, mode, folder, made):
    tokenizer = TRAINED[name]()
    new = answers(tokenizer, mode)
    assert (len(made), len(list(folder.iterdir()))) == (1, 1)
    assert np.array_equal(answers(tokenizer, mode), new)
    assert len(made) == 1
    stored(folder).write_bytes(stored(folder).read_bytes()[:-1])
    assert np.array_equal(answers(tokenizer, mode), new)
    assert len(made) == 2
    assert np.array_equal(answers(tokenizer, mode), new)
    assert len(made) == 2


def test_tables_are_of_one_tokenizer_in_one_mode(folder, made):
    for name, mode in [("hf-gpt2", "prefix"), ("hf-gpt2", "open"), ("hf-cl100k", "prefix")]:
        answers(TRAINED[name](), mode)
    assert len(made) == len(list(folder.iterdir())) == 3


def test_without_a_folder_tables_are_made_each_time(tmp_path, monkeypatch, made):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path / "file"))
    tokenizer = TRAINED["hf-gpt2"]()
    assert np.array_equal(answers(tokenizer, "prefix"), answers(tokenizer, "prefix"))
    assert len(made) == 2
