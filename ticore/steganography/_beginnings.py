"""Where in a received text the message may begin: people put words before what they pass on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ..channels import Channel

MOST_BEGINNINGS = 8
_MOST_PLACES = 64  # of line breaks and announcements, after which the text is read by itself
# After a line break, or after what announces a text: "Here it is: ".
_MAY_BEGIN = re.compile(r"(?:\n|\r|[:>\u201c\u300c\"])[\s\u200b\ufeff]*")


def beginnings(text: str, sent: str, channel: Channel) -> Iterator[str]:
    """What a reader may take a text for, the likeliest first: one, or up to MOST_BEGINNINGS.

    Args:
        text: as it was received.
        sent: what it began with when it was sent; empty if nothing is known.
        channel: on which it came.
    """
    found = _after(text, sent, channel) if sent else readings_inside(text, channel)
    return islice(found, MOST_BEGINNINGS)


def readings_inside(text: str, channel: Channel) -> Iterator[str]:
    """What a channel's reader makes of a text, and of what follows each place where one may begin.

    Each is read by itself, since a channel may join the beginning to what stands before it.
    """
    yield channel.read(text)
    for match in islice(_MAY_BEGIN.finditer(text), _MOST_PLACES):
        if rest := channel.read(text[match.end() :]):
            yield rest


def _after(text: str, sent: str, channel: Channel) -> Iterator[str]:
    """The text from each place on where it begins with `sent`; as it is without any."""
    found = set[str]()
    for reading in readings_inside(text, channel):
        at = reading.find(sent)
        while at >= 0:
            if reading[at:] not in found:
                found.add(reading[at:])
                yield reading[at:]
            at = reading.find(sent, at + 1)
    if not found:
        yield channel.read(text)
