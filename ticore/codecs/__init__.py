"""Codecs: how message bits choose among weighted tokens. `CODECS` lists them by name."""

from collections.abc import Callable, Mapping

from .arithmetic import ArithmeticCodec, StopRule
from .base import Codec, Reader, Weights, Writer
from .bits import BitSource, RandomBits, pack_bits, unpack_bits, zeros

CODECS: Mapping[str, Callable[[StopRule], Codec]] = {"arithmetic": ArithmeticCodec}

__all__ = [
    "CODECS",
    "ArithmeticCodec",
    "BitSource",
    "Codec",
    "RandomBits",
    "Reader",
    "StopRule",
    "Weights",
    "Writer",
    "pack_bits",
    "unpack_bits",
    "zeros",
]
