"""Padding: plaintexts of a few sizes, so that a text's length tells little about its message's.

    plaintext   payload (n bytes)
    padded      how many random bytes follow, in seven bits per byte | payload | random bytes

Sizes are 4, 6, 8, 12, 16, 24, 32, 48 and 64 bytes, and from there on four to each doubling: 80, 96,
112, 128, 160, ... So padding adds a fifth on average to short payloads, and a tenth to long ones.
"""

from __future__ import annotations

from collections.abc import Callable

_SHORT = 64
_LEAST = 4
_MOST_LEB128 = 5


def padded(payload: bytes, before: int, entropy: Callable[[int], bytes]) -> bytes:
    """A payload with random bytes after it.

    Args:
        payload: any bytes.
        before: how many bytes of the plaintext come before it.
        entropy: `f(n)` gives n random bytes.

    Returns:
        Bytes that make, with those before, a plaintext of one of the sizes.
    """
    width = 1
    while True:
        least = before + width + len(payload)
        count = padded_size(least) - least
        if count < 1 << 7 * width:
            return leb128(count, width) + payload + entropy(count)
        width += 1


def unpadded(data: bytes) -> bytes | None:
    """The payload of what `padded` made; None for anything else."""
    found = read_leb128(data)
    if found is None:
        return None
    count, start = found
    end = len(data) - count
    return data[start:end] if end >= start else None


def padded_size(size: int) -> int:
    """The least of the sizes that has room for `size` bytes.

    >>> [padded_size(size) for size in (0, 5, 16, 33, 65, 1000)]
    [4, 6, 16, 48, 80, 1024]
    """
    size = max(size, _LEAST)
    step = _step(1 << (size - 1).bit_length() - 1)  # of the octave below
    return -(-size // step) * step


def largest_size(room: int) -> int:
    """The largest of the sizes that is at most `room` bytes; 0 if there is none.

    >>> [largest_size(room) for room in (3, 5, 33, 100, 1023)]
    [0, 4, 32, 96, 896]
    """
    if room < _LEAST:
        return 0
    step = _step(1 << room.bit_length() - 1)
    return room // step * step


def _step(octave: int) -> int:
    """How far sizes are apart from `octave` on, up to its double."""
    return octave // (2 if octave < _SHORT else 4)


def leb128(value: int, width: int = 1) -> bytes:
    """Seven bits per byte, the lowest first; the top bit means that more bytes follow.

    Args:
        value: at least 0.
        width: how many bytes to take at least.

    >>> leb128(300).hex(), leb128(1, width=2).hex()
    ('ac02', '8100')
    """
    code = bytearray()
    while value >= 0x80 or len(code) < width - 1:
        code.append(0x80 | value & 0x7F)
        value >>= 7
    code.append(value)
    return bytes(code)


def read_leb128(data: bytes) -> tuple[int, int] | None:
    """The value that `data` begins with, and how many bytes it takes; None if there is none."""
    value = 0
    for place, byte in enumerate(data[:_MOST_LEB128]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, place + 1
    return None
