"""Codecs: how message bits choose among weighted candidates. `CODECS` lists them by name."""

from .._support.deprecation import moved_names
from .._support.shared_randomness import RandomBitStream, SharedRandomness
from ._arithmetic import ArithmeticCodec, StopRule
from ._base import Codec, ForkingReader, Reader, Weights, Writer, forked
from ._bits import BitSource, RandomBits, pack_bits, unpack_bits, zeros
from ._coupling import CouplingCodec
from ._discop import DiscopCodec
from ._huffman import HuffmanCodec
from ._meteor import MeteorCodec
from ._registry import CODECS, CodecSpec, codec_named, codec_spec
from ._rotation_range import RotationRangeCodec
from ._sparsamp import SparSampCodec

__all__ = [
    "CODECS",
    "ArithmeticCodec",
    "BitSource",
    "Codec",
    "CodecSpec",
    "CouplingCodec",
    "DiscopCodec",
    "ForkingReader",
    "HuffmanCodec",
    "MeteorCodec",
    "RandomBitStream",
    "RandomBits",
    "Reader",
    "RotationRangeCodec",
    "SharedRandomness",
    "SparSampCodec",
    "StopRule",
    "Weights",
    "Writer",
    "codec_named",
    "codec_spec",
    "forked",
    "pack_bits",
    "unpack_bits",
    "zeros",
]

__getattr__ = moved_names(__name__, {"CodecKind": "ticore.codecs:CodecSpec"})
