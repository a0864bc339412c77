"""Does a list of tokens survive being turned into text and read back, and where does it not."""

from .alignment import Comparison, compare
from .channels import Channel, send
from .modes import Mode
from .verifier import Rung, Verification, Verifier, View

__all__ = [
    "Channel",
    "Comparison",
    "Mode",
    "Rung",
    "Verification",
    "Verifier",
    "View",
    "compare",
    "send",
]
