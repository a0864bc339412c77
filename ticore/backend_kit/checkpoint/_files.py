"""The most bytes that files of a model may have, and how they are read.

A place may name anything. A device without an end would fill the memory, and a pipe that nobody
writes to would block.
"""

from __future__ import annotations

from ..._support.input_files import read_regular_file as read_whole
from ..._support.input_files import require_regular_file as require_regular

__all__ = [
    "MOST_OF_CONFIG",
    "MOST_OF_INDEX",
    "MOST_OF_TOKENIZER",
    "read_whole",
    "require_regular",
]

# Bytes. The largest tokenizer.json of today has 34 MB, the largest config.json some 100 kB; an
# index has a line of 100 bytes for each tensor.
MOST_OF_TOKENIZER = 256 << 20
MOST_OF_CONFIG = 16 << 20
MOST_OF_INDEX = 64 << 20
