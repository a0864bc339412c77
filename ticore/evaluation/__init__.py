"""Measures of what was written, and what may happen to it: attacks."""

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
from .metrics import Measures, Meter, Rate, peak_memory, perplexity, rate

__all__ = [
    "Attack",
    "Attacked",
    "EndpointError",
    "EndpointParaphrase",
    "LocalParaphrase",
    "Measures",
    "Meter",
    "Rate",
    "Replacement",
    "WordDrop",
    "WordSwap",
    "peak_memory",
    "perplexity",
    "rate",
]
