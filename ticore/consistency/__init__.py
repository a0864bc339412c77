"""Does a list of tokens survive being turned into text and read back, and where does it not."""

from .alignment import Comparison, compare
from .audit import Audit, Hazard, Unreachable, audit
from .boundaries import Specials
from .channels import Channel, send
from .modes import Mode
from .verifier import Rung, Verification, Verifier, View

__all__ = [
    "Audit",
    "Channel",
    "Comparison",
    "Hazard",
    "Mode",
    "Rung",
    "Specials",
    "Unreachable",
    "Verification",
    "Verifier",
    "View",
    "audit",
    "compare",
    "send",
]
