"""Frames open to what was sealed or not at all, and look random."""

from __future__ import annotations

import random
import secrets
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import cycle
from statistics import NormalDist

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from hypothesis import given, settings
from hypothesis import strategies as st

from ticore.errors import (
    AlteredTextError,
    CapacityError,
    ExtractionError,
    IncompleteMessageError,
)
from ticore.steganography import _frame as frame
from ticore.steganography import _keys as keys
from ticore.steganography import _payload as payloads
from ticore.steganography._frame import FrameReader, seal
from ticore.steganography._keys import Secret
from ticore.steganography._padding import leb128, padded_size
from ticore.steganography._payload import Packing, Payload

KEY = Secret.from_key(bytes(range(32)))
PASSWORD = Secret.from_password("correct horse")
DIGEST = bytes(range(32, 64))

keys_32 = st.binary(min_size=32, max_size=32)
chunk_sizes = st.lists(st.integers(0, 100), min_size=1).filter(any)
# Both short of and beyond one length byte, both compressible and not.
messages = st.binary(max_size=300) | st.builds(bytes.__mul__, st.binary(), st.integers(0, 99))


@pytest.fixture(autouse=True, scope="module")
def cheap_argon2() -> Iterable[None]:
    with pytest.MonkeyPatch.context() as patch:
        for constant, least in ("ITERATIONS", 1), ("LANES", 1), ("MEMORY_KIB", 8):
            patch.setattr(keys, f"_ARGON2_{constant}", least)
        yield


def _entropy(seed: int) -> Callable[[int], bytes]:
    return random.Random(seed).randbytes


def _seal(
    message: bytes,
    secret: Secret,
    digest: bytes,
    entropy: Callable[[int], bytes] = secrets.token_bytes,
    pad: bool = False,
) -> bytes:
    return seal(Payload.of(message), secret, digest, entropy, pad=pad)


def _open(frame: bytes, secret: Secret = KEY, digest: bytes = DIGEST) -> bytes:
    opener = FrameReader(secret, digest)
    opener.feed(int.from_bytes(frame, "big"), 8 * len(frame))
    return opener.payload().message()


def _noise(size: int) -> bytes:
    return random.Random(size).randbytes(size)


@given(messages, keys_32, keys_32, st.binary(max_size=40), chunk_sizes)
def test_frame_reader_gives_what_was_sealed(
    message: bytes, key: bytes, digest: bytes, junk: bytes, sizes: list[int]
) -> None:
    """Fed in chunks of any number of bits, with junk after the frame."""
    frame = _seal(message, Secret.from_key(key), digest)
    fed, left = int.from_bytes(frame + junk, "big"), 8 * len(frame + junk)
    opener = FrameReader(Secret.from_key(key), digest)
    for size in cycle(sizes):
        if left == 0:
            break
        count = min(left, size)
        left -= count
        opener.feed((fed >> left) & ((1 << count) - 1), count)
        assert opener.complete == (left <= 8 * len(junk))
    assert opener.bits_needed == 0
    assert opener.payload().message() == message
    assert opener.payload().message() == message


@settings(max_examples=25)
@given(messages, st.text(min_size=1))
def test_frame_reader_gives_what_was_sealed_with_a_password(message: bytes, password: str) -> None:
    secret = Secret.from_password(password)
    assert _open(_seal(message, secret, DIGEST), secret) == message


@given(messages)
def test_bits_needed_never_exceeds_the_frame(message: bytes) -> None:
    """A reader who fetches just what is asked for ends exactly at the frame's end."""
    frame = _seal(message, KEY, DIGEST)
    opener, at = FrameReader(KEY, DIGEST), 0
    while not opener.complete:
        more = opener.bits_needed // 8
        assert 0 < more <= len(frame) - at
        opener.feed(int.from_bytes(frame[at : at + more], "big"), 8 * more)
        at += more
    assert at == len(frame)


@pytest.mark.parametrize("secret", [KEY, PASSWORD], ids=["key", "password"])
@pytest.mark.parametrize("message", [b"", b"at noon", _noise(150), b"a" * 500])
def test_frame_reader_raises_when_any_bit_is_flipped(message: bytes, secret: Secret) -> None:
    frame = _seal(message, secret, DIGEST, _entropy(1))
    for bit in range(8 * len(frame)):
        altered = bytearray(frame)
        altered[bit // 8] ^= 1 << bit % 8
        with pytest.raises((AlteredTextError, IncompleteMessageError)):
            _open(bytes(altered), secret)


@pytest.mark.parametrize("secret", [KEY, PASSWORD], ids=["key", "password"])
def test_frame_reader_says_incomplete_when_truncated(secret: Secret) -> None:
    frame = _seal(_noise(150), secret, DIGEST, _entropy(2))
    for count in range(8 * len(frame)):
        opener = FrameReader(secret, DIGEST)
        opener.feed(int.from_bytes(frame, "big") >> (8 * len(frame) - count), count)
        assert not opener.complete
        assert opener.bits_needed <= 8 * len(frame) - count
        with pytest.raises(IncompleteMessageError, match=f" {count} bits were read, at least "):
            opener.payload().message()


@given(messages, keys_32, keys_32)
def test_frame_reader_raises_when_the_key_differs(message: bytes, key: bytes, other: bytes) -> None:
    frame = _seal(message, Secret.from_key(key), DIGEST) + _noise(99)
    if key != other:
        with pytest.raises((AlteredTextError, IncompleteMessageError), match="the key"):
            _open(frame, Secret.from_key(other))


@given(messages, keys_32, keys_32)
def test_frame_reader_raises_when_the_agreement_differs(
    message: bytes, digest: bytes, other: bytes
) -> None:
    frame = _seal(message, KEY, digest)
    if digest != other:
        with pytest.raises(AlteredTextError, match="another setting"):
            _open(frame, KEY, other)


def test_frame_reader_raises_when_the_password_differs() -> None:
    frame = _seal(b"at noon", PASSWORD, DIGEST, _entropy(3))
    for other in (Secret.from_password("correct horsf"), KEY):
        with pytest.raises((AlteredTextError, IncompleteMessageError), match=r"password|key"):
            _open(frame, other)


def test_frame_reader_stretches_a_password_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = Counter[bytes]()
    derive = Secret.derive

    def count(secret: Secret, salt: bytes) -> keys.SealingKeys:
        calls[salt] += 1
        return derive(secret, salt)

    frame = _seal(_noise(20_000), PASSWORD, DIGEST)
    monkeypatch.setattr(Secret, "derive", count)
    opener = FrameReader(PASSWORD, DIGEST)
    for byte in frame:
        opener.feed(byte, 8)
    assert opener.payload().message() == opener.payload().message() == _noise(20_000)
    assert calls == {frame[:16]: 1}


@pytest.mark.slow
@pytest.mark.parametrize("secret", [KEY, PASSWORD], ids=["key", "password"])
@pytest.mark.parametrize("message", [b"", b"at noon", _noise(150), b"a" * 500])
def test_seal_makes_uniform_bits(message: bytes, secret: Secret) -> None:
    """2000 frames of one message: each bit balanced, and each pair of neighbours independent.

    A frame fails wrongly with probability 1e-6: the level is shared among all the counts. The
    length, constant below its mask, is covered like every other byte.
    """
    count = 2000
    frames = [_seal(message, secret, DIGEST, _entropy(seed)) for seed in range(count)]
    assert len({len(frame) for frame in frames}) == 1
    bits = np.unpackbits(np.array([list(frame) for frame in frames], np.uint8), axis=1)
    neighbours = bits[:, 1:] ^ bits[:, :-1]
    ones = np.concatenate([bits.sum(axis=0), neighbours.sum(axis=0)])
    chi_square = (ones - count / 2) ** 2 / (count / 4)
    # A chi-square of one degree of freedom is a squared normal deviate.
    limit = NormalDist().inv_cdf(1 - 1e-6 / (2 * len(ones))) ** 2
    assert chi_square.max() < limit


@pytest.mark.parametrize("place", [16, 17])
def test_seal_makes_uniform_length_bytes(place: int) -> None:
    count = 4000
    frames = [_seal(_noise(150), KEY, DIGEST, _entropy(seed)) for seed in range(count)]
    found = np.bincount([frame[place] for frame in frames], minlength=256)
    chi_square = ((found - count / 256) ** 2 / (count / 256)).sum()
    assert chi_square < 377  # the 1 - 1e-6 quantile for 255 degrees of freedom


def test_seal_differs_when_repeated() -> None:
    """From the first bytes on, so that no two texts begin alike."""
    assert len({_seal(b"at noon", KEY, DIGEST)[:8] for _ in range(100)}) == 100


def test_seal_gives_the_frames_of_former_versions() -> None:
    """Fails if the format changes, which would lock out all earlier messages."""
    by_key = bytes.fromhex("f92ccd78237aa6b180d6e0dd6c021a1b02c22c7a1f1ef6b0e3db1d59")
    by_password = bytes.fromhex(
        "000102030405060708090a0b0c0d0e0f661f2b9ee5db0df06187f0a91e877b6442f55afd12f73df8a9bd7649"
    )
    assert _seal(b"at noon", KEY, DIGEST, _counting()) == by_key
    assert _seal(b"at noon", PASSWORD, DIGEST, _counting()) == by_password
    assert _open(by_key) == _open(by_password, PASSWORD) == b"at noon"


def _counting() -> Callable[[int], bytes]:
    """Bytes 0, 1, 2, …: unlike a generator's, the same in every version of Python."""
    numbers = iter(range(256))
    return lambda size: bytes(next(numbers) for _ in range(size))


@given(messages)
def test_seal_compresses_only_when_that_is_shorter(message: bytes) -> None:
    overhead = {KEY: 16, PASSWORD: 32}
    deflated = zlib.compress(message, 9, wbits=-15)
    plaintext = frame.HEADER_BYTES + min(len(message), len(deflated))
    length = 1 if plaintext < 128 else 2
    for secret, fixed in overhead.items():
        assert len(_seal(message, secret, DIGEST)) == fixed + length + plaintext


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 123, 124, 2**14 - 5, 2**14 - 4, 2**20, 2**21])
def test_seal_writes_lengths_of_every_size(size: int) -> None:
    """Around each size at which the length takes one more byte, and a large message bit by bit."""
    message = _noise(size)
    frame = _seal(message, KEY, DIGEST)
    opener = FrameReader(KEY, DIGEST)
    for bit in (bit for byte in frame[:64] for bit in f"{byte:08b}"):
        opener.feed(int(bit), 1)
    for at in range(64, len(frame), 5):
        chunk = frame[at : at + 5]
        opener.feed(int.from_bytes(chunk, "big"), 8 * len(chunk))
    assert opener.payload().message() == message


@given(st.integers(4, 2**28 + 4))
def test_decode_length_reads_what_leb128_wrote(size: int) -> None:
    code = leb128(size)
    assert frame._decode_length(code) == size
    assert len(code) <= frame.MAX_LENGTH_BYTES


@pytest.mark.parametrize(
    "code",
    [
        b"\x00",  # no room for the header
        b"\x03",
        b"\x8b\x00",  # 11, which fits one byte
        b"\x8b\x80\x80\x80\x00",
        leb128(frame._MOST_BYTES + 1),  # one more than the longest plaintext
        b"\xff\xff\xff\xff\xff",  # a sixth byte announced
    ],
)
def test_frame_reader_raises_when_the_length_is_impossible(code: bytes) -> None:
    """Even where the tag is right: a frame has one form only. Decided before the frame's end."""
    derived = KEY.derive(b"")
    plaintext = bytes(4) + b"at noon"
    associated_data = frame._associated_data(DIGEST, code, frame._DOMAIN)
    sealed = AESSIV(derived.siv_key).encrypt(plaintext, associated_data)
    tag, ciphertext = sealed[:16], sealed[16:]
    masked = frame._mask_length(derived, tag, code)
    with pytest.raises(AlteredTextError):
        _open(tag + masked)
    with pytest.raises(AlteredTextError):
        _open(tag + masked + ciphertext)


@pytest.mark.parametrize("body", [b"", b"\x09x", b"\x80"], ids=["none", "more", "cut"])
def test_frame_reader_refuses_padding_that_is_never_written_even_with_the_right_tag(
    body: bytes,
) -> None:
    derived = KEY.derive(b"")
    plaintext = bytes(4) + body
    length = leb128(len(plaintext))
    associated_data = frame._associated_data(DIGEST, length, frame._PADDED_DOMAIN)
    sealed = AESSIV(derived.siv_key).encrypt(plaintext, associated_data)
    tag, ciphertext = sealed[:16], sealed[16:]
    with pytest.raises(AlteredTextError):
        _open(tag + frame._mask_length(derived, tag, length) + ciphertext)


def test_seal_refuses_messages_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(payloads, "MAX_MESSAGE", 1000)
    for message in (bytes(1000), _noise(1000)):
        assert _open(_seal(message, KEY, DIGEST)) == message
    with pytest.raises(CapacityError, match="at most 1000 bytes, found 1001"):
        _seal(bytes(1001), KEY, DIGEST)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xff no deflate stream",
        zlib.compress(bytes(500), wbits=-15)[:-1],
        zlib.compress(bytes(500), wbits=-15) + b"more",
        zlib.compress(bytes(1001), wbits=-15),
        zlib.compress(bytes(10**6 // 2), wbits=-15),
    ],
    ids=["empty", "garbage", "cut", "more", "too long", "bomb"],
)
def test_frame_reader_refuses_faulty_payloads(
    monkeypatch: pytest.MonkeyPatch, payload: bytes
) -> None:
    monkeypatch.setattr(payloads, "MAX_MESSAGE", 1000)
    with pytest.raises(ExtractionError, match="does not decompress to at most 1000 bytes"):
        _open(seal(Payload(Packing.DEFLATED, payload), KEY, DIGEST))


@pytest.mark.parametrize(("value", "count"), [(2, 1), (1, 0), (-1, 8), (0, -1)])
def test_feed_refuses_numbers_that_have_more_bits(value: int, count: int) -> None:
    with pytest.raises(ValueError, match="of at most"):
        FrameReader(KEY, DIGEST).feed(value, count)


@given(messages, st.sampled_from(Packing), st.booleans())
def test_payloads_of_every_packing_come_back(data: bytes, packing: Packing, pad: bool) -> None:
    opener = FrameReader(KEY, DIGEST)
    sealed = seal(Payload(packing, data), KEY, DIGEST, _entropy(1), pad=pad)
    opener.feed(int.from_bytes(sealed), 8 * len(sealed))
    assert opener.payload() == Payload(packing, data)


@given(st.binary(max_size=400))
def test_padded_frames_have_few_lengths(message: bytes) -> None:
    found = len(seal(Payload(Packing.PLAIN, message), KEY, DIGEST, pad=True))
    plaintext = padded_size(frame.HEADER_BYTES + 1 + len(message))
    assert found in (16 + 1 + plaintext, 16 + 2 + plaintext)
