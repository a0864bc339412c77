"""The container of GGUF files: sound ones as the package `gguf` reads them, forged ones refused."""

import re
import struct
import tracemalloc

import numpy as np
import pytest

pytest.importorskip("gguf", reason="gguf is not installed")

import gguf

from tests.support.gguf_files import write_tokenizer
from ticore.backend_kit.checkpoint import read_gguf_vocabulary
from ticore.backend_kit.checkpoint._gguf.container import read_container
from ticore.errors import ModelFilesError

U32, STRING, ARRAY = 4, 8, 9
F32 = 0


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(data)) + data


def key(name, kind, value):
    return text(name) + struct.pack("<I", kind) + value


def tensor(name, sizes, kind=F32, offset=0):
    shape = struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes)
    return text(name) + shape + struct.pack("<IQ", kind, offset)


def file_of(keys=(), tensors=(), data=b"", *, magic=b"GGUF", version=3, counts=None):
    found = counts or (len(tensors), len(keys))
    head = magic + struct.pack("<IQQ", version, *found) + b"".join([*keys, *tensors])
    return head + bytes(-len(head) % 32) + data


@pytest.fixture
def read(tmp_path):
    def read(content):
        (tmp_path / "model.gguf").write_bytes(content)
        return read_container(tmp_path / "model.gguf")

    return read


def test_container_is_what_the_package_reads(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "model.gguf", "llama")
    values = {"u": 7, "i": -3, "f": 0.5, "t": "häuser", "b": True}
    writer.add_uint64("u", values["u"])
    writer.add_int16("i", values["i"])
    writer.add_float64("f", values["f"])
    writer.add_string("t", values["t"])
    writer.add_bool("b", values["b"])
    writer.add_float32("small", 1e-5)
    writer.add_array("texts", ["", "a b", "日本"])
    writer.add_array("numbers", [1.5, -2.0])
    writer.add_custom_alignment(64)
    rng = np.random.default_rng(0)
    arrays = {"a": rng.standard_normal((3, 64)).astype(np.float32), "b": np.ones(5, np.float16)}
    writer.add_tensor("a", arrays["a"])
    writer.add_tensor("b", arrays["b"])
    packed = gguf.quantize(arrays["a"], gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor("c", packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
    for write in (writer.write_header_to_file, writer.write_kv_data_to_file):
        write()
    writer.write_tensors_to_file()
    writer.close()
    found = read_container(tmp_path / "model.gguf")
    assert values.items() <= found.metadata.items()
    assert found.metadata["small"] == 1e-5
    assert found.metadata["texts"] == ["", "a b", "日本"]
    assert found.metadata["numbers"].tolist() == [1.5, -2.0]
    own = {each.name: each for each in gguf.GGUFReader(tmp_path / "model.gguf").tensors}
    assert own.keys() == found.tensors.keys()
    for name, each in own.items():
        packed = found.tensors[name]
        assert (packed.kind, packed.data.tobytes()) == (each.tensor_type, each.data.tobytes())
        assert packed.shape == tuple(reversed(each.shape.tolist()))
        assert not packed.data.flags.writeable


HUGE = 2**64 - 1
ONE = key("a", U32, struct.pack("<I", 1))
FORGED = {
    "nothing": (b"", "ends too early"),
    "another magic": (file_of(magic=b"GGML"), "found something else"),
    "version 1": (file_of(version=1), "version 1, where 2 and 3"),
    "another byte order": (file_of(version=3 << 24), "version 50331648, where"),
    "tensors without end": (file_of(counts=(HUGE, 0)), "18,446,744,073,709,551,615 tensors"),
    "metadata without end": (file_of(counts=(0, HUGE)), "metadata, where at most 65,536"),
    "a string without end": (file_of([struct.pack("<Q", HUGE)]), "ends too early"),
    "a string that is not UTF-8": (file_of([key("a", STRING, text(b"\xff"))]), "is not UTF-8"),
    "a name that is too long": (file_of([key("a" * 2000, U32, bytes(4))]), "2,000 characters"),
    "a name twice": (file_of([ONE, ONE]), "metadata with the name 'a' twice"),
    "an unknown type": (file_of([key("a", 13, bytes(8))]), "'a' of the unknown type 13"),
    "an array of arrays": (
        file_of([key("a", ARRAY, struct.pack("<IQ", ARRAY, 1) + bytes(64))]),
        "'a' with items of type 9",
    ),
    "an array without end": (
        file_of([key("a", ARRAY, struct.pack("<IQ", U32, HUGE))]),
        "items of 'a', where at most",
    ),
    "an array longer than the file": (
        file_of([key("a", ARRAY, struct.pack("<IQ", U32, 1000))]),
        "ends too early",
    ),
    "many strings": (
        file_of([key("a", ARRAY, struct.pack("<IQ", STRING, 2**23))]),
        "arrays of more than 4,194,304 strings",
    ),
    "an alignment of zero": (
        file_of([key("general.alignment", U32, bytes(4))]),
        "an alignment of 0",
    ),
    "an alignment that is a text": (
        file_of([key("general.alignment", STRING, text("32"))]),
        "an alignment of '32'",
    ),
    "a tensor of no dimensions": (file_of(tensors=[tensor("t", [])]), "'t' of 0 dimensions"),
    "a tensor of many": (file_of(tensors=[tensor("t", [1] * 5)]), "'t' of 5 dimensions"),
    "an empty tensor": (file_of(tensors=[tensor("t", [4, 0])]), r"'t' of sizes [4, 0]"),
    "an unknown quantization": (file_of(tensors=[tensor("t", [32], 999)]), "'t' of type 999"),
    "half a block": (file_of(tensors=[tensor("t", [33], 8)]), "'t' of sizes [33], in blocks of 32"),
    "a tensor larger than all memory": (
        file_of(tensors=[tensor("t", [2**62, 2**62])], data=bytes(64)),
        "ends before the tensor 't' does",
    ),
    "a tensor far away": (
        file_of(tensors=[tensor("t", [4], offset=2**63)], data=bytes(64)),
        "ends before the tensor 't' does",
    ),
    "a tensor twice": (file_of(tensors=[tensor("t", [4])] * 2, data=bytes(64)), "'t' twice"),
    "overlapping tensors": (
        file_of(tensors=[tensor("t", [4]), tensor("u", [4], offset=12)], data=bytes(64)),
        "'u' in the place of another tensor",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_container_is_refused(name, read):
    content, message = FORGED[name]
    tracemalloc.start()
    with pytest.raises(ModelFilesError, match=re.escape(message)) as refusal:
        read(content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20
    assert "\n" not in str(refusal.value)


def test_container_that_ends_anywhere_is_refused(read):
    texts = key("b", ARRAY, struct.pack("<IQ", STRING, 2) + text("x") + text("y"))
    whole = file_of([ONE, texts], [tensor("t", [4])], np.arange(4, dtype="<f4").tobytes())
    assert read(whole).tensors["t"].data.view("<f4").tolist() == [[0, 1, 2, 3]]
    for length in range(len(whole)):
        with pytest.raises(ModelFilesError, match=r"ends too early|ends before the tensor"):
            read(whole[:length])


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(ModelFilesError, match="no readable file"):
        read_container(tmp_path / "model.gguf")


def test_vocabulary_of_a_file_without_one_is_refused(tmp_path):
    write_tokenizer(tmp_path / "model.gguf", lambda writer: None)
    with pytest.raises(ModelFilesError, match=r"model to be 'llama' or 'gpt2' or 't5', found ''"):
        read_gguf_vocabulary(tmp_path / "model.gguf")


def test_a_file_is_read_once_while_it_is_held(tmp_path):
    path = tmp_path / "a.gguf"
    path.write_bytes(file_of([key("a", U32, struct.pack("<I", 1))]))
    held = read_container(path)
    assert read_container(path) is held
    path.unlink()
    path.write_bytes(file_of([key("b", STRING, text("new"))]))
    assert dict(read_container(path).metadata) == {"b": "new"}
    assert dict(held.metadata) == {"a": 1}
