"""Codecs: how message bits choose among weighted tokens. `CODECS` lists them by name."""

from .arithmetic import ArithmeticCodec, StopRule
from .base import Codec, Reader, Weights, Writer
from .bits import BitSource, RandomBits, pack_bits, unpack_bits, zeros
from .discop import DiscopCodec
from .huffman import HuffmanCodec
from .meteor import MeteorCodec
from .names import CODECS, CodecKind, codec_named
from .sparsamp import SparSampCodec

__all__ = [
    "CODECS",
    "ArithmeticCodec",
    "BitSource",
    "Codec",
    "CodecKind",
    "DiscopCodec",
    "HuffmanCodec",
    "MeteorCodec",
    "RandomBits",
    "Reader",
    "SparSampCodec",
    "StopRule",
    "Weights",
    "Writer",
    "codec_named",
    "pack_bits",
    "unpack_bits",
    "zeros",
]
