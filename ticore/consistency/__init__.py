"""Does a list of tokens survive being turned into text and read back, and where does it not."""

from .alignment import Comparison, compare
from .verifier import Mode, Verification, Verifier, View

__all__ = ["Comparison", "Mode", "Verification", "Verifier", "View", "compare"]
