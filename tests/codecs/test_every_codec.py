"""Every bundled codec keeps the contract of codecs."""

from functools import partial

import pytest

from ticore.codecs import CODECS, codec_named
from ticore.testing import CodecContract, KeyedCodecContract

# With its usual blocks "mec" takes ten times as long.
EVERY = ["mec:4" if name == "mec" else name for name in CODECS] + ["sparsamp:1"]
KEYED = [name for name in EVERY if codec_named(name).keyed]
PLAIN = [name for name in EVERY if name not in KEYED]


def make(name, randomness):
    return codec_named(name).make(randomness=randomness)


class TestPlainCodecs(CodecContract):
    @pytest.fixture(params=PLAIN)
    def make_codec(self, request):
        return partial(make, request.param)


class TestKeyedCodecs(KeyedCodecContract):
    @pytest.fixture(params=KEYED)
    def make_codec(self, request):
        return partial(make, request.param)
