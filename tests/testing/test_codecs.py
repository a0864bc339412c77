"""The contract of codecs notices a codec that changes what it is given."""

import pytest

from ticore.codecs import ArithmeticCodec
from ticore.testing import CodecContract


class SortingCodec:
    """Sorts the caller's weights in place, which a codec must not do."""

    def writer(self, bits):
        return SortingWriter(ArithmeticCodec().writer(bits))

    def reader(self):
        return SortingReader(ArithmeticCodec().reader())


class SortingWriter:
    def __init__(self, writer):
        self.writer = writer

    @property
    def done(self):
        return self.writer.done

    def choose(self, weights):
        weights.sort()
        return self.writer.choose(weights)


class SortingReader:
    def __init__(self, reader):
        self.reader, self.remainder = reader, reader.remainder

    def observe(self, weights, index):
        weights.sort()
        return self.reader.observe(weights, index)


def test_a_codec_that_changes_the_weights_of_its_caller_is_noticed():
    with pytest.raises(ValueError, match="read-only"):
        CodecContract().test_message_of_any_length_is_read_back(lambda draws: SortingCodec(), 63)
