"""Measures of texts and of detectors, attacks on watermarked texts, fingerprints of machines."""

from ..watermarking._configurations import ALL
from ._calibration import Calibration, CalibrationCell, calibrate
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
    "ALL",
    "Attack",
    "Attacked",
    "Calibration",
    "CalibrationCell",
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
    "calibrate",
    "fingerprint",
    "peak_memory",
    "perplexity",
    "rate",
]
