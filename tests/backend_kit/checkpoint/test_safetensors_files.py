"""Tensors of safetensors files: single, sharded, damaged."""

import json
import os

import numpy as np
import pytest
from safetensors.numpy import save_file

from ticore.backend_kit.checkpoint import Tensors
from ticore.errors import ModelFilesError

STORED = {
    "b": np.arange(6, dtype=np.float32).reshape(2, 3),
    "a": np.ones(4, np.float16),
    "c": np.arange(2, dtype=np.int64),
}


@pytest.fixture
def folder(tmp_path):
    save_file(STORED, tmp_path / "model.safetensors")
    return tmp_path


@pytest.fixture
def sharded(tmp_path):
    """Two shards, and the list of what lies in which."""
    folder = tmp_path / "sharded"
    folder.mkdir()
    shards = {"one.safetensors": ["a", "c"], "two.safetensors": ["b"]}
    for file, names in shards.items():
        save_file({name: STORED[name] for name in names}, folder / file)
    write_index(folder, {name: file for file, names in shards.items() for name in names})
    return folder


def write_index(folder, weight_map):
    index = json.dumps({"weight_map": weight_map})
    (folder / "model.safetensors.index.json").write_text(index)


def test_tensors_are_those_that_were_stored(folder, sharded):
    for tensors in (Tensors(folder), Tensors(sharded)):
        found = tensors.take("b", (2, 3), ["F32"])
        assert (found.code, found.shape) == ("F32", (2, 3))
        assert (found.data.view("<f4").reshape(2, 3) == STORED["b"]).all()
        assert not found.data.flags.writeable
        assert "a" in tensors
        assert "d" not in tensors


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (("d", (4,), ["F16"]), r"a tensor d of shape \(4,\), found none of that name"),
        (("a", (5,), ["F16"]), r"a to have shape \(5,\), found \(4,\)"),
        (("a", (4,), ["F32", "BF16"]), r"a to be one of BF16, F32, found F16"),
    ],
)
def test_take_refuses_another_name_shape_or_dtype(folder, wanted, message):
    with pytest.raises(ModelFilesError, match=message):
        Tensors(folder).take(*wanted)


def test_refuse_rest_allows_harmless_names_only(folder):
    tensors = Tensors(folder)
    tensors.take("b", (2, 3), ["F32"])
    tensors.refuse_rest(lambda name: name in "ac")
    with pytest.raises(ModelFilesError, match="2 others, such as a;"):
        tensors.refuse_rest(lambda name: False)


def test_digest_depends_on_the_content_alone(folder, sharded, tmp_path):
    original = Tensors(folder).digest()
    assert Tensors(sharded).digest() == original
    for name, changed in {
        "number": STORED | {"a": np.array([1, 1, 1, 2], np.float16)},
        "type": STORED | {"a": STORED["a"].view(np.int16)},
        "shape": STORED | {"a": STORED["a"].reshape(2, 2)},
        "name": {"d" if name == "a" else name: array for name, array in STORED.items()},
    }.items():
        (tmp_path / name).mkdir()
        save_file(changed, tmp_path / name / "model.safetensors")
        assert Tensors(tmp_path / name).digest() != original, name


def test_tensors_refuse_a_directory_without_weights(tmp_path):
    with pytest.raises(ModelFilesError, match=r"model\.safetensors: .*no readable file"):
        Tensors(tmp_path)


@pytest.mark.parametrize("kept", [0, 4, 60, -1])
def test_tensors_refuse_a_truncated_file(folder, kept):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ModelFilesError, match="damaged or truncated"):
        Tensors(folder)


def test_tensors_refuse_a_missing_shard(sharded):
    (sharded / "one.safetensors").unlink()
    with pytest.raises(ModelFilesError, match=r"one\.safetensors: .*no readable file"):
        Tensors(sharded)


def test_tensors_refuse_an_index_that_names_other_tensors(sharded):
    write_index(sharded, {"a": "two.safetensors"})
    with pytest.raises(ModelFilesError, match=r"two\.safetensors: expected a tensor a, as model"):
        Tensors(sharded)


def test_tensors_that_the_index_leaves_out_are_among_them(folder, sharded):
    """Other libraries read all that is in the files, so a digest has to cover it."""
    write_index(sharded, {"a": "one.safetensors", "b": "two.safetensors"})
    assert "c" in Tensors(sharded)
    assert Tensors(sharded).digest() == Tensors(folder).digest()


def test_tensors_refuse_a_tensor_in_two_files(sharded):
    save_file({"a": STORED["a"] + 1, "b": STORED["b"]}, sharded / "two.safetensors")
    with pytest.raises(ModelFilesError, match=r"two\.safetensors: .*found a in another one"):
        Tensors(sharded)


@pytest.mark.parametrize("shards", [None, [], {"a": 3}])
def test_tensors_refuse_an_index_without_a_weight_map(sharded, shards):
    write_index(sharded, shards)
    with pytest.raises(ModelFilesError, match=r"expected a weight_map .* found none"):
        Tensors(sharded)


OUTSIDE = ["../one.safetensors", "/etc/passwd", "x/../../one.safetensors", "x\\one.safetensors"]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "/", "a\0b", "\ud800", "one.safetensors/", *OUTSIDE]
)
def test_tensors_refuse_an_index_that_names_files_elsewhere(sharded, name):
    write_index(sharded, {"a": name})
    with pytest.raises(ModelFilesError, match=r"expected a weight_map .* found none"):
        Tensors(sharded)


@pytest.mark.parametrize("name", ["\ud800", "a\0"])
def test_tensors_refuse_an_index_with_unknown_tensors(sharded, name):
    write_index(sharded, {name: "one.safetensors"})
    with pytest.raises(ModelFilesError, match=r"expected a tensor .* found none of that name"):
        Tensors(sharded)


def test_tensors_refuse_a_folder_and_a_pipe(sharded):
    write_index(sharded, {"a": "folder"})
    (sharded / "folder").mkdir()
    with pytest.raises(ModelFilesError, match=r"not a regular file"):
        Tensors(sharded)
    os.mkfifo(sharded / "model.safetensors")
    with pytest.raises(ModelFilesError, match=r"not a regular file"):
        Tensors(sharded)


def test_tensors_refuse_impossible_header_lengths(tmp_path):
    """Files as the library reads them, whatever stands where the length of the header does."""
    header = json.dumps({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    for length in (0, 1, len(header) - 1, len(header) + 1, 2**31, 2**63, 2**64 - 1):
        content = length.to_bytes(8, "little") + header + bytes(4)
        (tmp_path / "model.safetensors").write_bytes(content)
        with pytest.raises(ModelFilesError, match="damaged or truncated"):
            Tensors(tmp_path)
