"""The outer code: Reed-Solomon over the bytes of a frame, in blocks that share each hole."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice, product

import numpy as np
import numpy.typing as npt
from reedsolo import ReedSolomonError, RSCodec

_MOST_IN_BLOCK = 255  # symbols of a byte
_PER_PARITY = 3  # bytes of a frame for one of parity: a quarter of the code
_LEAST_PARITY = 6
_LEVELS = 8  # how many shares of the parity are tried for erasures
_MOST_FRAMES = 32


class OuterCode:
    """The code of frames of one length.

    Args:
        length: of a frame, in bytes.

    Attributes:
        size: of the code, in bytes.
    """

    def __init__(self, length: int) -> None:
        parity = max(_LEAST_PARITY, -(-length // _PER_PARITY))
        self._blocks = next(
            count
            for count in range(1, length + 2)
            if -(-length // count) + -(-parity // count) <= _MOST_IN_BLOCK
        )
        self._per_block = -(-parity // self._blocks)
        self._length = length
        self.size = length + self._blocks * self._per_block

    def encode(self, frame: bytes) -> bytes:
        """The code of a frame: first the frame itself, then the parity of its blocks."""
        code = np.empty(self.size, dtype=np.uint8)
        for block in range(self._blocks):
            data = frame[block :: self._blocks]
            whole = _codec(self._per_block, len(data) + self._per_block).encode(data)
            code[block :: self._blocks] = np.frombuffer(bytes(whole), dtype=np.uint8)
        return code.tobytes()

    def decode(self, code: bytes, margins: npt.NDArray[np.float32]) -> Iterator[bytes]:
        """The frames that a damaged code may be of, the likeliest first. Mostly there is one.

        Bytes that are least certain are taken for unknown, more of them from one try to the next
        (generalized minimum distance decoding; Forney, 1966).

        Args:
            code: of `size` bytes.
            margins: float32[size], how certain each of them is.
        """
        found = [
            list(dict.fromkeys(self._block(block, code, margins))) for block in range(self._blocks)
        ]
        for parts in islice(product(*found), _MOST_FRAMES):
            frame = np.empty(self._length, dtype=np.uint8)
            for block, part in enumerate(parts):
                frame[block :: self._blocks] = np.frombuffer(part, dtype=np.uint8)
            yield frame.tobytes()

    def _block(self, block: int, code: bytes, margins: npt.NDArray[np.float32]) -> Iterator[bytes]:
        """What one block may hold."""
        damaged, least_first = (
            code[block :: self._blocks],
            np.argsort(margins[block :: self._blocks]),
        )
        codec = _codec(self._per_block, len(damaged))
        for level in range(_LEVELS):
            erased = least_first[: self._per_block * level // _LEVELS].tolist()
            try:
                yield bytes(codec.decode(damaged, erase_pos=erased)[0])
            except ReedSolomonError:
                continue


@cache
def _codec(parity: int, size: int) -> RSCodec:
    return RSCodec(parity, nsize=size)
