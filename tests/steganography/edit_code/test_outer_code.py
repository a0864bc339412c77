"""The outer code corrects holes and wrong bytes."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ticore.steganography._edit_code.outer_code import OuterCode


@settings(max_examples=40)
@example(seed=0, length=1)
@example(seed=0, length=192)  # two blocks from here on, by their parity
@example(seed=0, length=1024)
@given(seed=st.integers(0, 2**32), length=st.integers(1, 600))
def test_a_tenth_of_wrong_bytes_is_corrected(seed: int, length: int) -> None:
    random = Random(seed)
    frame, outer = random.randbytes(length), OuterCode(length)
    code = bytearray(outer.encode(frame))
    assert len(code) == outer.size
    assert code[:length] == frame
    # All next to each other: an edit makes one hole.
    wrong, start = len(code) // 10, random.randrange(len(code))
    for n in range(wrong):
        code[(start + n) % len(code)] ^= random.randrange(1, 256)
    assert frame in outer.decode(bytes(code), np.ones(outer.size, dtype=np.float32))


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), length=st.integers(20, 600))
def test_twice_as_many_are_corrected_where_it_is_known_which(seed: int, length: int) -> None:
    random = Random(seed)
    frame, outer = random.randbytes(length), OuterCode(length)
    code, margins = bytearray(outer.encode(frame)), np.ones(outer.size, dtype=np.float32)
    start = random.randrange(len(code))
    for n in range(len(code) // 5):
        code[(start + n) % len(code)], margins[(start + n) % len(code)] = random.randrange(256), 0
    assert frame in outer.decode(bytes(code), margins)


@settings(max_examples=20)
@given(st.binary(max_size=300), st.integers(1, 200))
def test_random_bytes_give_frames_of_the_right_length_or_none(noise: bytes, length: int) -> None:
    outer = OuterCode(length)
    code = (noise * (outer.size + 1))[: outer.size].ljust(outer.size, b"x")
    margins = np.random.default_rng(len(noise)).random(outer.size).astype(np.float32)
    assert all(len(frame) == length for frame in outer.decode(code, margins))
