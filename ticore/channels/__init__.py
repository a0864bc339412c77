"""Channels of messages: what happens to a text on its way, and which texts come through.

_base.py          `Channel`: what a reader takes a text for, and so which texts are left alone
_registry.py      the channels by name; several are joined by `+`
_white_space.py   `line`, and what channels do to white space
_chat.py          `chat`: messengers and forms
_typographic.py   `typographic`: quotation marks, dashes, ellipses
_email.py         `email`: wrapped and quoted lines
_sms.py           `sms`: one line in the alphabet of telephones
_caseless.py      `caseless`: capital letters
_ascii.py         `ascii`: nothing but ASCII
_passing.py       which tokens keep a text one that its channel leaves alone

A writer writes only texts that the channel leaves alone, and a reader reads what arrives as one of
them. So the message is read whatever the channel does. `ticore.Verifier` has channels of its own:
they say for any list of tokens whether it comes through, and shape no text.
"""

from ._base import Change, Channel
from ._passing import PassingText, PassingTexts
from ._registry import CHANNELS, ENTRY_POINTS, IDENTITY, channel_named, channel_of

__all__ = [
    "CHANNELS",
    "ENTRY_POINTS",
    "IDENTITY",
    "Change",
    "Channel",
    "PassingText",
    "PassingTexts",
    "channel_named",
    "channel_of",
]
