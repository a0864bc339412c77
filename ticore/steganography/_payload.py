"""What a message is packed into before it is sealed: as it is, deflated, by the model, in parts."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from enum import IntEnum

from ..errors import CapacityError, ExtractionError

MAX_MESSAGE = 2**28
"""Bytes. Bounds what a frame can make its reader allocate, deflated payloads included."""

_RAW_DEFLATE = -zlib.MAX_WBITS  # negative: zlib's own header and checksum are left out


class Packing(IntEnum):
    """How a payload was made of the message. The numbers are part of the format."""

    PLAIN = 0
    DEFLATED = 1
    BY_MODEL = 2
    PART = 3


@dataclass(frozen=True)
class Payload:
    """The bytes that stand for a message.

    Attributes:
        packing: how they were made of it.
        data: the bytes.
    """

    packing: Packing
    data: bytes

    @classmethod
    def of(cls, message: bytes) -> Payload:
        """The shorter one of the message itself and the deflated message.

        Raises:
            CapacityError: the message is longer than MAX_MESSAGE.
        """
        if len(message) > MAX_MESSAGE:
            raise CapacityError(
                f"a message has at most {MAX_MESSAGE} bytes, found {len(message)}; send it in parts"
            )
        deflated = zlib.compress(message, level=9, wbits=_RAW_DEFLATE)
        if len(deflated) < len(message):
            return cls(Packing.DEFLATED, deflated)
        return cls(Packing.PLAIN, message)

    def message(self) -> bytes:
        """The message of a payload that is plain or deflated.

        Raises:
            ExtractionError: the payload does not decompress.
        """
        if self.packing != Packing.DEFLATED:
            return self.data
        stream = zlib.decompressobj(wbits=_RAW_DEFLATE)
        try:
            # A longer message is cut at the limit. Then `eof` stays False.
            message = stream.decompress(self.data, MAX_MESSAGE)
        except zlib.error:
            message = b""
        if not stream.eof or stream.unused_data:
            raise ExtractionError(
                f"the message is authentic, but does not decompress to at most {MAX_MESSAGE} "
                f"bytes; the program that wrote it is at fault"
            )
        return message
