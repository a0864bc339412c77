"""Numbers of GGUF files, compared with the formats as ggml defines them."""

import numpy as np
import pytest

pytest.importorskip("gguf", reason="gguf is not installed")

import gguf

from ticore.backend_kit.checkpoint._gguf import unpacking
from ticore.backend_kit.checkpoint._gguf.container import PackedTensor
from ticore.errors import ModelFilesError

Kind = gguf.GGMLQuantizationType


def halves(block, count):
    """The float16 numbers that a block begins with, and the rest."""
    return block[: 2 * count].view("<f2").astype(np.float64), block[2 * count :]


def nibbles(packed):
    return np.concatenate([packed & 15, packed >> 4]).astype(np.float64)


def fifth_bits(packed):
    return 16.0 * np.unpackbits(packed, bitorder="little")


def q4_0(block):
    (scale,), packed = halves(block, 1)
    return scale * (nibbles(packed) - 8)


def q4_1(block):
    (scale, least), packed = halves(block, 2)
    return scale * nibbles(packed) + least


def q5_0(block):
    (scale,), packed = halves(block, 1)
    return scale * (nibbles(packed[4:]) + fifth_bits(packed[:4]) - 16)


def q5_1(block):
    (scale, least), packed = halves(block, 2)
    return scale * (nibbles(packed[4:]) + fifth_bits(packed[:4])) + least


def q8_0(block):
    (scale,), packed = halves(block, 1)
    return scale * packed.view(np.int8).astype(np.float64)


def scales_of_k(packed):
    """Eight scales and eight minima of six bits each, in twelve bytes."""
    low, middle, high = packed.reshape(3, 4).astype(np.int64)
    scales = np.concatenate([low & 63, (high & 15) | (low >> 6 << 4)])
    minima = np.concatenate([middle & 63, (high >> 4) | (middle >> 6 << 4)])
    return scales, minima


def q4_k(block, bits=None):
    (scale, least), packed = halves(block, 2)
    scales, minima = scales_of_k(packed[:12])
    quants = packed[12:].reshape(4, 32)
    numbers = np.stack([quants & 15, quants >> 4], axis=1).reshape(8, 32).astype(np.float64)
    if bits is not None:
        numbers += [(bits >> i & 1) * 16.0 for i in range(8)]
    return (scale * scales[:, None] * numbers - least * minima[:, None]).ravel()


def q5_k(block):
    return q4_k(np.concatenate([block[:16], block[48:]]), block[16:48])


def q6_k(block):
    low, high = block[:128].reshape(2, 2, 32), block[128:192].reshape(2, 32)
    scales, scale = block[192:208].view(np.int8).astype(np.float64), block[208:].view("<f2")
    found = []
    for half in range(2):
        four = np.concatenate([low[half] & 15, low[half] >> 4]).astype(np.int64)
        two = np.stack([high[half] >> shift & 3 for shift in (0, 2, 4, 6)]).astype(np.int64)
        found.append((four | two << 4) - 32)
    numbers = np.concatenate(found).reshape(16, 16)
    return (np.float64(scale[0]) * scales[:, None] * numbers).ravel()


FORMATS = {each.__name__.upper(): each for each in (q4_0, q4_1, q5_0, q5_1, q8_0)}
FORMATS |= {"Q4_K": q4_k, "Q5_K": q5_k, "Q6_K": q6_k}
# How many float16 numbers a block begins with; those of Q6_K stand at its end.
SCALES = {"Q4_1": 2, "Q5_1": 2, "Q4_K": 2, "Q5_K": 2}


def random_blocks(name, rows, columns, seed=0):
    """Random bytes, but scales near one."""
    rng = np.random.default_rng(seed)
    _, size = gguf.GGML_QUANT_SIZES[Kind[name]]
    blocks = rng.integers(0, 256, (rows, columns, size)).astype(np.uint8)
    count = SCALES.get(name, 1)
    scales = rng.uniform(0.5, 2, (rows, columns, count)).astype("<f2").view(np.uint8)
    blocks[..., -2:] = scales[..., :2] if name == "Q6_K" else blocks[..., -2:]
    if name != "Q6_K":
        blocks[..., : 2 * count] = scales
    return blocks


@pytest.mark.parametrize("name", FORMATS)
def test_numbers_are_those_of_the_format(name, monkeypatch):
    monkeypatch.setattr(unpacking, "_AT_ONCE", 1000)  # several steps
    blocks = random_blocks(name, 7, 3)
    expected = np.array([[FORMATS[name](block) for block in row] for row in blocks])
    expected = expected.reshape(7, -1)
    packed = PackedTensor(Kind[name], expected.shape, blocks.reshape(7, -1))
    stored = unpacking.stored_tensor("here", packed)
    assert (stored.code, stored.kind, stored.shape) == ("F32", name, expected.shape)
    found = stored.data.view("<f4").reshape(stored.shape)
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-5)
    assert np.array_equal(found, gguf.dequantize(packed.data, packed.kind))


@pytest.mark.parametrize(("name", "code"), [("F32", "F32"), ("F16", "F16"), ("BF16", "BF16")])
def test_plain_numbers_are_a_view_of_the_file(name, code):
    size = gguf.GGML_QUANT_SIZES[Kind[name]][1]
    data = np.arange(6 * size, dtype=np.uint8).reshape(2, -1)
    stored = unpacking.stored_tensor("here", PackedTensor(Kind[name], (2, 6 // 2), data))
    assert (stored.code, stored.shape) == (code, (2, 3))
    assert np.shares_memory(stored.data, data)


@pytest.mark.parametrize("name", ["F64", "I8", "Q8_K"])
def test_type_that_nobody_unpacks_is_refused(name):
    block, size = gguf.GGML_QUANT_SIZES[Kind[name]]
    packed = PackedTensor(Kind[name], (1, block), np.zeros((1, size), np.uint8))
    with pytest.raises(ModelFilesError, match="here: expected numbers in a type"):
        unpacking.stored_tensor("here", packed)


def test_damaged_scales_warn_of_nothing():
    blocks = np.full((2, 34), 255, np.uint8)  # NaN
    packed = PackedTensor(Kind.Q8_0, (2, 32), blocks)
    assert np.isnan(unpacking.unpacked(packed)).all()
