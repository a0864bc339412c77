"""What may happen to a watermarked text before somebody looks for the watermark."""

from .base import Attack, Attacked
from .endpoint import SYSTEM, EndpointError, EndpointParaphrase
from .paraphrase import LocalParaphrase
from .replacement import Replacement
from .words import WordDrop, WordSwap

__all__ = [
    "SYSTEM",
    "Attack",
    "Attacked",
    "EndpointError",
    "EndpointParaphrase",
    "LocalParaphrase",
    "Replacement",
    "WordDrop",
    "WordSwap",
]
