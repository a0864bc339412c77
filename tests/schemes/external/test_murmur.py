"""MurmurHash3_x86_32: known answers."""

import numpy as np
import pytest

from ticore.schemes.external._murmur import murmur3


# Texts of whole words, from the tables in Wikipedia's article on MurmurHash and in Bitcoin Core
# (src/test/hash_tests.cpp).
@pytest.mark.parametrize(
    ("text", "seed", "expected"),
    [
        (b"", 0, 0),
        (b"", 1, 0x514E28B7),
        (b"", 0xFFFFFFFF, 0x81F16F39),
        (b"\xff\xff\xff\xff", 0, 0x76293B50),
        (b"\x21\x43\x65\x87", 0, 0xF55B516B),
        (b"\x21\x43\x65\x87", 0x5082EDEE, 0x2362F9DE),
        (b"test", 0, 0xBA6BD213),
        (b"test", 0x9747B28C, 0x704B81DC),
        (b"aaaa", 0x9747B28C, 0x5A97808A),
        (b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 0, 0xEE925B90),
        (b"a" * 256, 0x9747B28C, 0x37405BDC),
    ],
)
def test_murmur3_gives_the_known_answers(text, seed, expected):
    words = [np.uint64(word) * np.ones(2, np.uint64) for word in np.frombuffer(text, "<u4")]
    assert np.broadcast_to(murmur3(words, seed), 2).tolist() == [expected] * 2
