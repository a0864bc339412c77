"""Memory that the library has freed."""

from __future__ import annotations

import ctypes
from contextlib import suppress

_MUCH = 4 << 20  # bytes; for less it does not pay


def return_freed_memory(size: int) -> None:
    """Give freed memory back to the system, where the C library can.

    After a large file was read, glibc keeps about as much for later as is in use. This takes some
    milliseconds.

    Args:
        size: of the file; for a small one, nothing is done.
    """
    if size < _MUCH:
        return
    with suppress(AttributeError, OSError, TypeError):  # another C library, or Windows
        ctypes.CDLL(None).malloc_trim(0)
