"""Attacks: changes to a watermarked text that may remove the watermark."""

from ._base import Attack, Attacked
from ._endpoint import SYSTEM, EndpointError, EndpointParaphrase, NoCompletionError
from ._paraphrase import LocalParaphrase
from ._replacement import Replacement
from ._words import WordDrop, WordSwap

__all__ = [
    "SYSTEM",
    "Attack",
    "Attacked",
    "EndpointError",
    "EndpointParaphrase",
    "LocalParaphrase",
    "NoCompletionError",
    "Replacement",
    "WordDrop",
    "WordSwap",
]
