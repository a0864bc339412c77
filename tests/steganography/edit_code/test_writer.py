"""The writer of frames that survive edits goes on until they do, and says how far it is."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from ticore.steganography._edit_code.windows import KeyedWindows
from ticore.steganography._edit_code.writer import EditCodeWriter
from ticore.steganography._embedding import STALL_TOKENS, StalledError

WINDOW, CHOICES = 2, 16


def test_settled_bits_grow_until_the_frame_survives():
    """A writer that tells nothing for long is stopped: see `write_bits`."""
    random, ids = Random(3), list[int]()
    windows = KeyedWindows(bytes(32), WINDOW)
    writer = EditCodeWriter(random.randbytes(40), windows, ids, 0.1, WINDOW, random.getrandbits)
    weights = np.full(CHOICES, (1 << 32) // CHOICES, dtype=np.int64)
    settled, since, longest, trials = 0, 0, 0, 0
    while not writer.done:
        ids.append(CHOICES * random.getrandbits(20) + writer.choose(weights))
        assert writer.settled < 8 * 40 or writer.done
        since = 0 if writer.settled > settled else since + 1
        trials += writer.settled < settled
        longest, settled = max(longest, since), writer.settled
    assert trials > 3  # else it would say little
    assert longest < STALL_TOKENS / 4
    assert writer.settled == 8 * 40


@pytest.mark.parametrize("every", [STALL_TOKENS, 100])
def test_a_text_that_goes_round_among_a_few_windows_is_given_up(every):
    """Its choices carry bits by themselves, and tell nothing of the frame."""
    random, ids = Random(3), list[int]()
    windows = KeyedWindows(bytes(32), WINDOW)
    writer = EditCodeWriter(random.randbytes(40), windows, ids, 0.1, WINDOW, random.getrandbits)
    weights = np.full(CHOICES, (1 << 32) // CHOICES, dtype=np.int64)

    def write():
        while len(ids) < 2 * STALL_TOKENS:
            writer.choose(weights)
            ids.append(random.getrandbits(30) if len(ids) % every == 0 else len(ids) % 3)

    with pytest.raises(StalledError, match="larger window"):
        write()
