"""Philox4x32-10: the published known answers."""

import numpy as np
import pytest

from ticore.schemes.external._philox import philox

WORD = 0xFFFFFFFF


# Random123's kat_vectors, the lines of philox4x32 with 10 rounds.
@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((WORD,) * 4, (WORD,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_gives_the_known_answers(counter, key, expected):
    counters = tuple(np.full(2, word, np.uint64) for word in counter)
    keys = tuple(np.full(2, word, np.uint64) for word in key)
    found = philox(counters, keys)
    assert [word.tolist() for word in found] == [[word, word] for word in expected]
