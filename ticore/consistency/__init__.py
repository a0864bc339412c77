"""Whether a list of tokens survives being turned into text and read back, and where it does not.

- `compare` shows one list beside what a receiver makes of its text, and why they differ;
  `compare_batch` many.
- `Verifier` decides which tokens may follow a list so that it stays consistent; `packed_masks`
  gives an engine the answers for many lists at once.
- `seam` tells whether two texts may be encoded apart; `PrefixTokenizer` encodes a growing text, and
  `TokenStream` decodes growing ids.
- `audit` examines a tokenizer before you rely on it.
- `send` shows what a channel (a messenger, a web form) does to a text.
"""

from .._support.deprecation import moved_names
from ._audit import Audit, Hazard, Unreachable, audit
from ._boundaries import Specials
from ._causes import Cause, Difference
from ._channels import Channel, send
from ._comparison import Comparison, compare, compare_batch
from ._exported_tables import ExportedTables, TableRows
from ._modes import Mode
from ._packed_masks import packed_masks
from ._prefix_tokenizer import Appended, PrefixTokenizer
from ._rejections import Rejections
from ._seam import Seam, seam
from ._token_stream import TokenStream
from ._verifier import Method, Verification, Verifier, View

__all__ = [
    "Appended",
    "Audit",
    "Cause",
    "Channel",
    "Comparison",
    "Difference",
    "ExportedTables",
    "Hazard",
    "Method",
    "Mode",
    "PrefixTokenizer",
    "Rejections",
    "Seam",
    "Specials",
    "TableRows",
    "TokenStream",
    "Unreachable",
    "Verification",
    "Verifier",
    "View",
    "audit",
    "compare",
    "compare_batch",
    "packed_masks",
    "seam",
    "send",
]

__getattr__ = moved_names(__name__, {"Rung": "ticore.consistency:Method"})
