"""Tables on disk: what is stored comes back, and what cannot be trusted is as good as absent."""

import hashlib
import random

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


def test_a_file_that_was_stored_under_another_name_is_as_good_as_absent(folder):
    store.save("name", ARRAYS)
    (folder / "other.tables").write_bytes(stored(folder).read_bytes())
    assert store.load("other") is None
    assert store.load("name") is not None


def test_what_does_not_fit_is_as_good_as_absent():
    store.save("name", ARRAYS)
    assert store.unpacked("name", lambda arrays: arrays["numbers"].tolist()) == [[1, -2], [3, 4]]
    assert store.unpacked("name", lambda arrays: arrays["not there"]) is None
    assert store.unpacked("other", dict) is None


INDEXES = ("place", "first", "own", "begin", "end", "left", "right", "of")


def spoilt(arrays, draw):
    """The arrays with one of them missing, cut, of another type, or pointing nowhere."""
    name = draw.choice(sorted(arrays))
    array = arrays[name]
    others = [array.astype(np.complex64), np.array("text")]
    if name != "replaced":  # of which any part would do
        others += [array[: len(array) // 2], np.concatenate([array, array])]
    if name.split("_")[-1] in INDEXES:
        others += [np.full_like(array, -2), np.full_like(array, 1 << 30)]
    others = [other for other in others if other.shape != array.shape or other.dtype != array.dtype
              or not np.array_equal(other, array)]  # fmt: skip
    found = {other: held for other, held in arrays.items() if other != name}
    choice = draw.randrange(len(others) + 1)
    return found if choice == len(others) else {**found, name: others[choice]}


@pytest.mark.parametrize("name", ["sp-bpe", "hf-ignore-merges"])
def test_arrays_that_do_not_fit_are_made_anew(name, folder, made):
    """With a digest that fits, so that nothing but looking at them finds it out."""
    tokenizer, draw = TRAINED[name](), random.Random(name)
    new = answers(tokenizer, "prefix")
    kept = stored(folder).stem
    arrays = store.load(kept)
    for _ in range(30):
        other = spoilt(arrays, draw)
        store.save(kept, other)
        before = len(made)
        assert np.array_equal(answers(tokenizer, "prefix"), new)
        assert len(made) == before + 1
        assert store.load(kept).keys() == arrays.keys()
