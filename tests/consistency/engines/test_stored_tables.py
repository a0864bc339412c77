"""Engines answer alike from stored tables and from new ones."""

import random

import numpy as np
import pytest

from tests.support.tokenizers import TRAINED
from ticore._support import table_cache
from ticore.consistency._engines import build
from ticore.consistency._engines.retokenizing import Oracle


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TICORE_CACHE", str(tmp_path / "tables"))
    return tmp_path / "tables"


def stored(folder):
    (file,) = folder.iterdir()
    return file


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
