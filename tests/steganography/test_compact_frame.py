"""Compact frames: they come back, nothing else does, and they look random."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from ticore.errors import CapacityError, IncompleteMessageError
from ticore.steganography._compact_frame import (
    MOST_BYTES,
    OVERHEAD,
    CompactFrameReader,
    _crypt,
    _tag,
    seal,
)
from ticore.steganography._keys import Secret
from ticore.steganography._payload import Packing, Payload

KEY = Secret.from_key(bytes(range(32)))
DIGEST = bytes(range(32, 64))

payloads = st.builds(Payload, st.sampled_from(Packing), st.binary(max_size=80))


def opened(frame: bytes, secret: Secret = KEY, digest: bytes = DIGEST) -> Payload:
    reader = CompactFrameReader(secret, digest)
    reader.feed(int.from_bytes(frame), 8 * len(frame))
    return reader.payload()


@given(payloads, st.booleans(), st.binary(max_size=30), st.lists(st.integers(1, 40), min_size=1))
def test_reader_gives_what_was_sealed(
    payload: Payload, pad: bool, after: bytes, chunks: list[int]
) -> None:
    frame = seal(payload, KEY, DIGEST, Random(1).randbytes, pad=pad)
    reader, bits = CompactFrameReader(KEY, DIGEST), f"{int.from_bytes(b'1' + frame + after):b}"[6:]
    at, turn = 0, 0
    while not reader.complete:
        assert reader.least_bits <= 8 * len(frame)
        count = chunks[turn % len(chunks)]
        chunk = bits[at : at + count]
        reader.feed(int(chunk, 2), len(chunk))
        at, turn = at + count, turn + 1
    assert reader.bits_needed == 0
    assert reader.payload() == payload


@given(payloads)
def test_frame_is_nine_bytes_longer(payload: Payload) -> None:
    assert len(seal(payload, KEY, DIGEST)) == len(payload.data) + OVERHEAD == len(payload.data) + 9


@settings(max_examples=20)
@given(payloads, st.integers(0, 10**6), st.booleans())
def test_altered_and_cut_frames_hold_nothing(payload: Payload, place: int, pad: bool) -> None:
    frame = bytearray(seal(payload, KEY, DIGEST, Random(2).randbytes, pad=pad))
    for wrong in (frame[:-1], bytes(5)):
        with pytest.raises(IncompleteMessageError, match="no message was found"):
            opened(bytes(wrong))
    frame[place // 8 % len(frame)] ^= 1 << place % 8
    with pytest.raises(IncompleteMessageError):
        opened(bytes(frame))


def test_another_key_or_agreement_finds_nothing() -> None:
    frame = seal(Payload.of(b"at noon"), KEY, DIGEST) + bytes(200)
    for secret, digest in ((Secret.from_key(bytes(32)), DIGEST), (KEY, bytes(32))):
        with pytest.raises(IncompleteMessageError):
            opened(frame, secret, digest)


def test_reader_stops_where_no_frame_can_end_any_more() -> None:
    reader = CompactFrameReader(KEY, DIGEST)
    reader.feed(0, 8 * (MOST_BYTES + 20))
    assert reader.complete
    with pytest.raises(IncompleteMessageError):
        reader.payload()


@pytest.mark.parametrize("plaintext", [b"\x04\x09x", b"\x04"])
def test_what_is_never_written_is_not_opened_even_with_the_right_tag(plaintext: bytes) -> None:
    derived = KEY.derive(b"")
    tag = _tag(derived, DIGEST, plaintext)
    with pytest.raises(IncompleteMessageError):
        opened(tag + _crypt(derived, tag, plaintext))


def test_long_messages_are_refused() -> None:
    assert opened(seal(Payload(Packing.PLAIN, bytes(MOST_BYTES - 1)), KEY, DIGEST))
    with pytest.raises(CapacityError, match="at most 4,096 bytes, found 4,097; send it with stand"):
        seal(Payload(Packing.PLAIN, bytes(MOST_BYTES)), KEY, DIGEST)


def test_frames_look_random() -> None:
    entropy = Random(5).randbytes
    frames = [seal(Payload.of(entropy(4)), KEY, DIGEST, entropy) for _ in range(4000)]
    places = np.frombuffer(b"".join(frames), dtype=np.uint8).reshape(len(frames), -1)
    values = [chisquare(np.bincount(place, minlength=256)).pvalue for place in places.T]
    assert min(values) > 1e-4


def test_repeated_messages_have_one_of_32_frames() -> None:
    entropy = Random(6).randbytes
    frames = {seal(Payload.of(b"at noon"), KEY, DIGEST, entropy) for _ in range(500)}
    assert len(frames) == 32
    padded = {seal(Payload.of(b"at noon"), KEY, DIGEST, entropy, pad=True) for _ in range(500)}
    assert len(padded) == 500


def test_frame_of_former_versions_is_read() -> None:
    frame = seal(Payload.of(b"at noon"), KEY, DIGEST, lambda count: bytes(range(count)))
    assert frame.hex() == "26f6318766c63127cec2d06d4fe194dd"
