"""Measures of texts, attacks on watermarked texts, and fingerprints of what a machine computes."""

from ._fingerprint import Fingerprint, fingerprint
from ._metrics import Measures, Meter, Rate, peak_memory, perplexity, rate
from .attacks import (
    Attack,
    Attacked,
    EndpointError,
    EndpointParaphrase,
    LocalParaphrase,
    NoCompletionError,
    Replacement,
    WordDrop,
    WordSwap,
)

__all__ = [
    "Attack",
    "Attacked",
    "EndpointError",
    "EndpointParaphrase",
    "Fingerprint",
    "LocalParaphrase",
    "Measures",
    "Meter",
    "NoCompletionError",
    "Rate",
    "Replacement",
    "WordDrop",
    "WordSwap",
    "fingerprint",
    "peak_memory",
    "perplexity",
    "rate",
]
