"""A message under a keyed codec: the nonce by one codec, then the rest by another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.codec_runs import random_tail
from tests.support.weight_tables import endless, tables
from ticore.codecs import codec_named
from ticore.errors import IncompleteMessageError
from ticore.steganography import Secret
from ticore.steganography._frame_formats import FORMATS
from ticore.steganography._nonce_first_codec import NonceFirstReader, NonceFirstWriter

KEY = Secret.from_key(bytes(range(32)))
FRAMES = FORMATS["standard"]
NONCE = FRAMES.nonce_length(KEY)


@given(
    frame=st.binary(min_size=NONCE + 1, max_size=NONCE + 9),
    some=st.lists(tables(), min_size=1, max_size=4),
    codec=st.sampled_from(["huffman", "meteor"]),
    seed=st.integers(0, 99),
)
def test_nonce_first_reader_reads_the_nonce_and_then_the_rest(frame, some, codec, seed):
    spec = codec_named(codec)
    writer = NonceFirstWriter(spec, FRAMES, KEY, frame, random_tail(seed))
    reader = NonceFirstReader(spec, FRAMES, KEY)
    value = count = switches = 0
    for weights in endless(some, seed):
        if writer.done:
            break
        settled, size = reader.observe(weights, writer.choose(weights))
        value, count = value << size | settled, count + size
        assert writer.nonce_done == reader.nonce_done == (switches == 0 and count >= 8 * NONCE)
        if writer.nonce_done:
            # The reader ignores the bits after the nonce that the first codec settles.
            assert value == int.from_bytes(frame[:NONCE])
            ours, theirs = writer.begin_rest(), reader.begin_rest()
            assert ours.at(3).take(64) == theirs.at(3).take(64)
            assert writer.settled == 8 * NONCE
            switches += 1
    assert switches == 1
    assert value >> count - 8 * len(frame) == int.from_bytes(frame)


def test_nonce_first_numbers_differ_from_nonce_to_nonce():
    drawn = set()
    for first in range(4):
        writer = NonceFirstWriter(
            codec_named("huffman"), FRAMES, KEY, bytes([first]) * (NONCE + 1), random_tail(0)
        )
        while not writer.nonce_done:
            writer.choose(np.array([128, 128]))
        drawn.add(writer.begin_rest().at(0).take(64))
    assert len(drawn) == 4


def test_nonce_first_reader_says_how_much_is_missing_when_the_text_was_cut():
    reader = NonceFirstReader(codec_named("huffman"), FRAMES, KEY)
    for _ in range(12):
        with pytest.raises(IncompleteMessageError, match="the text ends 3 bits before"):
            reader.remainder(3)
        reader.observe(np.array([128, 128]), 0)
