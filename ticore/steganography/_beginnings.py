"""Where in a received text the message may begin: people put words before what they pass on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from ..channels import Channel

MOST_BEGINNINGS = 8
# After a line break, or after what announces a text: "Here it is: ".
_MAY_BEGIN = re.compile(r"(?:\n|\r|[:>\u201c\u300c\"])[\s\u200b\ufeff]*")


def beginnings(text: str, sent: str, channel: Channel) -> Iterator[str]:
    """What a reader may take a text for, the likeliest first: one, or up to MOST_BEGINNINGS.

    Args:
        text: as it was received.
        sent: what it began with when it was sent; empty if nothing is known.
        channel: on which it came.
    """
    found = _after(channel.read(text), sent) if sent else _inside(text, channel)
    return islice(found, MOST_BEGINNINGS)


def _after(text: str, sent: str) -> Iterator[str]:
    """The text from each place on where it begins with `sent`; as it is without any."""
    at = text.find(sent)
    if at < 0:
        yield text
    while at >= 0:
        yield text[at:]
        at = text.find(sent, at + 1)


def _inside(text: str, channel: Channel) -> Iterator[str]:
    """The text, and what follows each of the places where one may begin."""
    yield channel.read(text)
    for match in _MAY_BEGIN.finditer(text):
        if rest := channel.read(text[match.end() :]):
            yield rest
