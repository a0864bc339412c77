"""A message in several texts: numbered parts, in any order, each sealed by itself.

    part   8 random bytes, the same for all parts | number | count | packing | data

Number and count take seven bits per byte. Data is a piece of the payload that would have been
sealed as a whole. Each part is authenticated with the agreement, and the random bytes tell the
parts of one message from those of another. So a part that is missing, repeated or of another
message is noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..errors import ExtractionError, MissingPartsError
from ._padding import leb128, read_leb128
from ._payload import Packing, Payload

ID_BYTES = 8
OVERHEAD = ID_BYTES + 5
"""About how many bytes a part adds to its data."""

_MOST_PARTS = 1 << 20
_MOST_NAMED = 10  # parts that an error names


@dataclass(frozen=True)
class Part:
    """One part of a message.

    Attributes:
        message_id: 8 bytes.
        number: from 1 on.
        count: how many parts the message has.
        packing: of the whole payload.
        data: a piece of it.
    """

    message_id: bytes
    number: int
    count: int
    packing: Packing
    data: bytes

    def payload(self) -> Payload:
        """What is sealed."""
        header = self.message_id + leb128(self.number) + leb128(self.count)
        return Payload(Packing.PART, header + bytes([self.packing]) + self.data)

    @classmethod
    def of(cls, payload: Payload) -> Part:
        """The inverse of `payload`; a payload that is no part is a message of one part.

        Raises:
            ExtractionError: the payload is damaged, which no part that was written is.
        """
        if payload.packing != Packing.PART:
            return cls(b"", 1, 1, payload.packing, payload.data)
        message_id, rest = payload.data[:ID_BYTES], payload.data[ID_BYTES:]
        numbers = list[int]()
        for _ in range(2):
            value, size = read_leb128(rest) or (0, 0)
            numbers.append(value)
            rest = rest[size:]
        number, count = numbers
        packings = (Packing.PLAIN, Packing.DEFLATED, Packing.BY_MODEL)
        if not (1 <= number <= count <= _MOST_PARTS and rest and rest[0] in packings):
            raise ExtractionError(
                "the message is authentic, but says nothing about which part it is; the program "
                "that wrote it is at fault"
            )
        return cls(message_id, number, count, Packing(rest[0]), rest[1:])


def split(payload: Payload, size: int, entropy: Callable[[int], bytes]) -> list[Part]:
    """The parts of a payload.

    Args:
        payload: of a message.
        size: bytes of data in each part, at least 1; the last one may have fewer.
        entropy: `f(n)` gives n random bytes.
    """
    data, message_id = payload.data, entropy(ID_BYTES)
    pieces = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
    return [
        Part(message_id, number, len(pieces), payload.packing, piece)
        for number, piece in enumerate(pieces, start=1)
    ]


def join(parts: Sequence[Part]) -> Payload:
    """The payload that was split.

    Args:
        parts: in any order; the same one may be there several times.

    Raises:
        MissingPartsError: one is missing.
        ExtractionError: there is none at all, or they are of several messages.
    """
    messages: dict[tuple[bytes, int, Packing], dict[int, bytes]] = {}
    for part in parts:
        of_message = messages.setdefault((part.message_id, part.count, part.packing), {})
        if of_message.setdefault(part.number, part.data) != part.data:
            raise _of_several(2)
    if len(messages) != 1:
        raise _of_several(len(messages))
    [((_, count, packing), data)] = messages.items()
    missing = tuple(number for number in range(1, count + 1) if number not in data)
    if missing:
        named = ", ".join(map(str, missing[:_MOST_NAMED]))
        more = f" and {len(missing) - _MOST_NAMED:,} more" if len(missing) > _MOST_NAMED else ""
        raise MissingPartsError(
            f"expected all {count:,} parts of a message, found {len(data):,}: part {named}{more} "
            f"of {count:,} is missing; give the texts of all parts",
            missing,
        )
    return Payload(packing, b"".join(data[number] for number in sorted(data)))


def _of_several(count: int) -> ExtractionError:
    if count == 0:
        return ExtractionError("expected the texts of a message, found none; give at least one")
    return ExtractionError(
        f"expected the parts of one message, found parts of {count:,} messages; "
        f"give the texts of one message"
    )
