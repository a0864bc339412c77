"""Watermarking schemes: how a key makes some tokens likelier, and how their scores are read."""

from .base import Readable, Scheme
from .evidence import Evidence
from .gumbel import Gumbel
from .left_hash import LeftHash
from .names import READERS, SCHEMES, reader_named, scheme_named
from .self_hash import SelfHash
from .significance import ExactGreens, Exponential, Greens, Null
from .unigram import Unigram

__all__ = [
    "READERS",
    "SCHEMES",
    "Evidence",
    "ExactGreens",
    "Exponential",
    "Greens",
    "Gumbel",
    "LeftHash",
    "Null",
    "Readable",
    "Scheme",
    "SelfHash",
    "Unigram",
    "reader_named",
    "scheme_named",
]
