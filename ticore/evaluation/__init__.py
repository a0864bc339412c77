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

__all__ = [
    "Attack",
    "Attacked",
    "EndpointError",
    "EndpointParaphrase",
    "LocalParaphrase",
    "Replacement",
    "WordDrop",
    "WordSwap",
]
