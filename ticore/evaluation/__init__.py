"""Measures of what was written, what may happen to it, and whether two machines compute alike."""

from .attacks import (
    Attack,
    Attacked,
    EndpointError,
    EndpointParaphrase,
    LocalParaphrase,
    Replacement,
    WordDrop,
    WordSwap,
)
from .fingerprint import Fingerprint, fingerprint
from .metrics import Measures, Meter, Rate, peak_memory, perplexity, rate

__all__ = [
    "Attack",
    "Attacked",
    "EndpointError",
    "EndpointParaphrase",
    "Fingerprint",
    "LocalParaphrase",
    "Measures",
    "Meter",
    "Rate",
    "Replacement",
    "WordDrop",
    "WordSwap",
    "fingerprint",
    "peak_memory",
    "perplexity",
    "rate",
]
