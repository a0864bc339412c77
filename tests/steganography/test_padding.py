"""Padding: the payload comes back, and sizes are few."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.toy_models import ToyModel, ToyTokenizer
from ticore.steganography import Steganographer
from ticore.steganography._padding import (
    largest_size,
    leb128,
    padded,
    padded_size,
    read_leb128,
    unpadded,
)

KEY = bytes(range(32))


@given(st.integers(0, 3000), st.integers(0, 9))
@example(1150, 1)  # with the shortest count the size is missed by a byte
def test_payload_comes_back_and_fills_a_size(size: int, before: int) -> None:
    payload = Random(size).randbytes(size)
    data = padded(payload, before, Random(1).randbytes)
    assert unpadded(data) == payload
    assert padded_size(before + len(data)) == before + len(data)


@given(st.integers(0, 1 << 30))
def test_sizes_are_few_and_near(size: int) -> None:
    found = padded_size(size)
    assert found >= size
    assert padded_size(found) == found
    assert found <= max(4, size * (1.5 if size <= 64 else 1.25))


@given(st.integers(4, 1 << 30))
def test_largest_size_is_the_last_that_fits(room: int) -> None:
    found = largest_size(room)
    assert padded_size(found) == found <= room < padded_size(found + 1)


def test_there_are_nine_sizes_up_to_64_and_four_in_each_doubling() -> None:
    short = sorted({padded_size(size) for size in range(65)})
    assert short == [4, 6, 8, 12, 16, 24, 32, 48, 64]
    assert len({padded_size(size) for size in range(65, 4097)}) == 4 * 6


@given(st.binary(max_size=20))
def test_anything_else_is_refused_or_read_within_its_bounds(data: bytes) -> None:
    found = unpadded(data)
    assert found is None or found in data


@pytest.mark.parametrize("data", [b"", b"\x01", b"\x80", b"\x80" * 9, b"\x03ab"])
def test_data_without_a_payload_is_refused(data: bytes) -> None:
    assert unpadded(data) is None


@given(st.integers(0, 1 << 35 - 1), st.integers(1, 5))
def test_numbers_come_back(value: int, width: int) -> None:
    code = leb128(value, width)
    assert len(code) >= width
    assert read_leb128(code + b"more") == (value, len(code))


@pytest.mark.parametrize("security", ["standard", "compact"])
def test_messages_of_near_lengths_take_as_many_bits(security: str) -> None:
    model = ToyModel(ToyTokenizer([chr(0x4E00 + n) for n in range(64)]), sharpness=0.5)

    def bits(size: int, pad: str) -> int:
        entropy = Random(1).randbytes
        stego = Steganographer(
            model, key=KEY, security=security, finish="none", pad=pad, entropy=entropy
        )
        return stego.embed(Random(size).randbytes(size)).bits

    assert bits(13, "sizes") == bits(14, "sizes")
    assert bits(13, "none") < bits(14, "none")
