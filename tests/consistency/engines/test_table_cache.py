"""Tables on disk: what is stored comes back, and what is not trustworthy is treated as absent."""

import hashlib
import random

import numpy as np
import pytest

from tests.support.tokenizers import TRAINED
from ticore.consistency._engines import build, table_cache
from ticore.consistency._engines.retokenizing import Oracle

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


def test_load_gives_the_arrays_that_were_saved():
    table_cache.save("name", ARRAYS)
    found = table_cache.load("name")
    assert found.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype
        assert np.array_equal(found[name], array)


def test_load_gives_none_for_a_name_that_was_not_saved():
    assert table_cache.load("name") is None
    table_cache.save("name", ARRAYS)
    assert table_cache.load("other") is None


def test_load_gives_the_arrays_that_were_saved_last():
    table_cache.save("name", ARRAYS)
    table_cache.save("name", {"numbers": np.arange(3)})
    assert table_cache.load("name").keys() == {"numbers"}


def test_folder_is_that_of_the_environment_or_the_user_cache(folder, monkeypatch):
    assert table_cache.folder() == folder
    monkeypatch.delenv("TICORE_CACHE")
    assert table_cache.folder().name == "ticore"


def test_save_leaves_one_file_in_the_folder(folder):
    table_cache.save("name", ARRAYS)
    assert stored(folder).name == "name.tables"


@pytest.mark.parametrize("at", [0, 5, 20, 60, 200, -1])
def test_load_gives_none_when_the_file_is_damaged(folder, at):
    table_cache.save("name", ARRAYS)
    content = bytearray(stored(folder).read_bytes())
    content[at] ^= 1
    stored(folder).write_bytes(content)
    assert table_cache.load("name") is None


@pytest.mark.parametrize("kept", [0, 1, 16, 40, 48, 300, -1])
def test_load_gives_none_when_the_file_is_truncated(folder, kept):
    table_cache.save("name", ARRAYS)
    stored(folder).write_bytes(stored(folder).read_bytes()[:kept])
    assert table_cache.load("name") is None


def test_load_gives_none_when_the_file_is_of_another_kind(folder):
    table_cache.save("name", ARRAYS)
    body = stored(folder).read_bytes()
    for content in (b"not a table", hashlib.sha256(body).digest() + body, body + b"more"):
        stored(folder).write_bytes(content)
        assert table_cache.load("name") is None


def test_load_gives_none_when_a_folder_has_the_name_of_the_file(folder):
    (folder / "name.tables").mkdir(parents=True)
    assert table_cache.load("name") is None
    table_cache.save("name", ARRAYS)
    assert table_cache.load("name") is None


@pytest.mark.parametrize("inner", ["", "deeper/still"])
def test_save_stores_nothing_when_the_folder_cannot_be_written(tmp_path, monkeypatch, inner):
    """A file stands where the folder should be; being root would not help."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path / "file" / inner))
    table_cache.save("name", ARRAYS)
    assert table_cache.load("name") is None
    assert (tmp_path / "file").read_text() == ""


def answers(tokenizer, mode):
    """Masks along a text, from an engine that finds tables or makes them."""
    engine = build.table_engine(Oracle(tokenizer, mode))
    state, found = engine.start(), [engine.mask(engine.start())]
    for token in tokenizer.encode("It's 12  o'clock:\n\nnaïve トークン"):
        state = engine.step(state, token)
        found.append(engine.mask(state))
    return np.array(found)


@pytest.fixture
def made(monkeypatch):
    """The calls of what makes tables."""
    calls = []
    make = build.build_tables
    monkeypatch.setattr(build, "build_tables", lambda *args: calls.append(args) or make(*args))
    return calls


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["prefix", "viable"])
@pytest.mark.parametrize("name", ["sp-bpe", "sp-bpe-nfkc", "hf-cl100k-nfc", "hf-ignore-merges"])
def test_table_engine_answers_alike_from_stored_and_from_new_tables(name, mode, folder, made):
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


def test_table_engine_stores_tables_by_tokenizer_and_mode(folder, made):
    for name, mode in [("hf-gpt2", "prefix"), ("hf-gpt2", "open"), ("hf-cl100k", "prefix")]:
        answers(TRAINED[name](), mode)
    assert len(made) == len(list(folder.iterdir())) == 3


def test_table_engine_builds_tables_each_time_when_no_folder_can_be_written(
    tmp_path, monkeypatch, made
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path / "file"))
    tokenizer = TRAINED["hf-gpt2"]()
    assert np.array_equal(answers(tokenizer, "prefix"), answers(tokenizer, "prefix"))
    assert len(made) == 2


def test_load_gives_none_when_the_file_was_saved_under_another_name(folder):
    table_cache.save("name", ARRAYS)
    (folder / "other.tables").write_bytes(stored(folder).read_bytes())
    assert table_cache.load("other") is None
    assert table_cache.load("name") is not None


def test_load_unpacked_gives_none_when_the_arrays_do_not_fit():
    table_cache.save("name", ARRAYS)
    assert table_cache.load_unpacked("name", lambda arrays: arrays["numbers"].tolist()) == [
        [1, -2],
        [3, 4],
    ]
    assert table_cache.load_unpacked("name", lambda arrays: arrays["not there"]) is None
    assert table_cache.load_unpacked("other", dict) is None


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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sp-bpe", "hf-ignore-merges"])
def test_table_engine_builds_tables_again_when_stored_arrays_do_not_fit(name, folder, made):
    """With a digest that fits, so that nothing but looking at them finds it out."""
    tokenizer, draw = TRAINED[name](), random.Random(name)
    new = answers(tokenizer, "prefix")
    kept = stored(folder).stem
    arrays = table_cache.load(kept)
    for _ in range(30):
        other = spoilt(arrays, draw)
        table_cache.save(kept, other)
        before = len(made)
        assert np.array_equal(answers(tokenizer, "prefix"), new)
        assert len(made) == before + 1
        assert table_cache.load(kept).keys() == arrays.keys()
