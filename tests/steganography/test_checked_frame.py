"""Checks change nothing of what a frame holds, look random, and stop a wrong reading early."""

from __future__ import annotations

from hashlib import sha256
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from ticore.errors import AlteredTextError, ExtractionError
from ticore.steganography._checked_frame import SPACING, checked, with_checks
from ticore.steganography._frame_formats import FORMATS, AnyFrameReader, Security
from ticore.steganography._keys import Secret
from ticore.steganography._payload import Packing, Payload

KEY = Secret.from_key(bytes(range(32)))
DIGEST = bytes(range(32, 64))

securities = st.sampled_from(sorted(FORMATS))
# Around each number of bytes at which another check comes.
sizes = st.integers(0, 4 * SPACING) | st.builds(
    lambda checks, off: checks * SPACING + off, st.integers(1, 3), st.integers(-30, 3)
)


def payload_of(size: int) -> Payload:
    return Payload(Packing.PLAIN, Random(size).randbytes(size))


def plain_frame(security: Security, size: int, seed: int = 1, pad: bool = False) -> bytes:
    seal = FORMATS[security].seal
    return seal(payload_of(size), KEY, DIGEST, Random(seed).randbytes, pad=pad)


def reader_of(security: Security) -> AnyFrameReader:
    return checked(FORMATS[security]).reader(KEY, DIGEST)


def fed(security: Security, frame: bytes) -> AnyFrameReader:
    reader = reader_of(security)
    reader.feed(int.from_bytes(frame), 8 * len(frame))
    return reader


@given(
    securities,
    sizes,
    st.booleans(),
    st.binary(max_size=9),
    st.lists(st.integers(1, 60), min_size=1),
)
@example("compact", SPACING - 9, False, b"more", [8])  # the frame ends where a check would come
@example("compact", SPACING - 8, False, b"", [8])  # and one byte later
def test_reader_gives_what_was_sealed(
    security: Security, size: int, pad: bool, after: bytes, chunks: list[int]
) -> None:
    seal = checked(FORMATS[security]).seal
    frame = seal(payload_of(size), KEY, DIGEST, Random(1).randbytes, pad=pad)
    assert frame == with_checks(plain_frame(security, size, pad=pad), KEY)
    reader, bits = reader_of(security), f"{int.from_bytes(b'1' + frame + after):b}"[6:]
    at, turn = 0, 0
    while not reader.complete:
        assert reader.least_bits <= 8 * len(frame)
        assert 0 < reader.bits_needed <= 8 * len(frame) - at
        chunk = bits[at : at + chunks[turn % len(chunks)]]
        reader.feed(int(chunk, 2), len(chunk))
        at, turn = at + len(chunk), turn + 1
    assert reader.bits_needed == 0
    assert reader.least_bits == 8 * len(frame)
    assert reader.payload() == payload_of(size)


@given(securities, sizes)
def test_a_frame_has_a_check_after_each_64_bytes_that_others_follow(
    security: Security, size: int
) -> None:
    plain = plain_frame(security, size)
    frame = with_checks(plain, KEY)
    places = range(SPACING, len(frame), SPACING + 1)
    assert len(frame) - len(plain) == len(places) == (len(plain) - 1) // SPACING
    assert bytes(byte for n, byte in enumerate(frame) if n not in places) == plain


@pytest.mark.parametrize("security", FORMATS)
def test_padded_lengths_are_those_of_frames_with_checks(security: Security) -> None:
    lengths = list(checked(FORMATS[security]).padded_lengths(600))
    assert len(with_checks(plain_frame(security, 300, pad=True), KEY)) in lengths


@given(st.integers(0, 8 * SPACING - 1), st.integers(0, 99))
def test_an_altered_frame_holds_nothing(place: int, seed: int) -> None:
    frame = bytearray(with_checks(plain_frame("standard", 5 * SPACING, seed), KEY))
    frame[place // 8] ^= 1 << place % 8
    with pytest.raises(ExtractionError):
        fed("standard", bytes(frame)).payload()


def test_of_256_altered_frames_about_one_goes_on_after_its_check() -> None:
    late = 0
    for seed in range(8):
        frame = with_checks(plain_frame("standard", 2 * SPACING, seed), KEY)[: SPACING + 1]
        for bit in range(8 * 20, 8 * SPACING):  # after the tag and the length
            altered = bytearray(frame)
            altered[bit // 8] ^= 1 << bit % 8
            late += not fed("standard", bytes(altered)).complete
    assert 0 < late < 33  # 8 x 352 / 256 is 11


def test_a_wrong_check_is_said() -> None:
    frame = bytearray(with_checks(plain_frame("standard", 300), KEY))
    frame[SPACING] ^= 1
    reader = fed("standard", bytes(frame))
    assert reader.complete
    with pytest.raises(AlteredTextError, match="a check after 64 bytes"):
        reader.payload()


@settings(max_examples=20)
@given(securities, st.integers(0, 8 * 300))
def test_a_fork_goes_on_by_itself(security: Security, bits: int) -> None:
    frame = with_checks(plain_frame(security, 300), KEY)
    bits = min(bits, 8 * len(frame) - 1)
    whole, reader = int.from_bytes(frame), reader_of(security)
    rest = 8 * len(frame) - bits
    reader.feed(whole >> rest, bits)
    fork = reader.fork()
    fork.feed(0, rest)
    reader.feed(whole & ((1 << rest) - 1), rest)
    assert reader.payload() == payload_of(300)
    with pytest.raises(ExtractionError):
        fork.payload()


def test_checks_are_uniform_and_those_of_another_key_are_others() -> None:
    frames = [plain_frame("standard", SPACING, seed) for seed in range(4000)]
    checks = [with_checks(frame, KEY)[SPACING] for frame in frames]
    assert chisquare(np.bincount(checks, minlength=256)).pvalue > 1e-6
    other = Secret.from_key(bytes(32))
    same = sum(
        with_checks(frame, other)[SPACING] == with_checks(frame, KEY)[SPACING] for frame in frames
    )
    assert 1 <= same < 50  # 4,000 / 256 is 16


def test_frames_are_those_of_former_versions() -> None:
    """Fails if the format changes, which would lock out all earlier messages."""
    frame = with_checks(bytes(range(256)) * 2, KEY)
    assert len(frame) == 519
    assert frame[SPACING :: SPACING + 1].hex() == "aa2f0e6647e406"
    assert sha256(frame).hexdigest()[:16] == "9f23304c4d57641c"
