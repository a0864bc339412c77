"""Channels: what happens to a text on its way, such as in a messenger or a web form.

Under a channel, a receiver of the list H of tokens reads encode(channel(decode(H))). Every channel
has two properties, on which the engines rely:

1. It is *local*. A change depends on a few neighbouring characters, or on the ends of the text.
   Example: `newlines` looks at a CR and the character after it.
2. It is *idempotent*. A text that has passed the channel passes it unchanged. Example: `spaces`
   leaves one space where there were three, and leaves that one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal, get_args

from .._support.checks import require_one_of
from .._support.utf8 import require_text
from ._tokenizer_rules.characters import compose
from ._tokenizer_rules.normalizers import context_in_normal_form, joining

Channel = Literal["identity", "strip", "nfc", "newlines", "spaces"]


def _nothing() -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True)
class Passage:
    """What one channel does.

    Attributes:
        inside: what it does to a text that continues on both sides.
        joining: gives the characters that it may change together with the characters before them.
        affected: gives the characters beyond ASCII that it may change, `joining` ones included.
        trims: whether it removes white space at both ends of a text.
        shorten: a function from a text that the channel leaves alone to a shorter text with the
            same effect on what follows; None: the last characters themselves are used.
    """

    inside: Callable[[str], str] = str
    joining: Callable[[], frozenset[str]] = _nothing
    affected: Callable[[], frozenset[str]] = _nothing
    trims: bool = False
    shorten: Callable[[str], str] | None = None

    def send(self, text: str) -> str:
        """The text that arrives for a whole text."""
        arrived = self.inside(text)
        return arrived.strip() if self.trims else arrived

    def head(self, text: str) -> str:
        """The first characters of `text` that may be changed together with the text before it."""
        joining, end = self.joining(), 0
        while end < len(text) and text[end] in joining:
            end += 1
        return text[:end]

    def context(self, text: str) -> str:
        """Characters with the same effect on later text as the end of `text`.

        `text` is one that the channel leaves alone. For a text that grows, the context of
        (context so far + new text) is the context of the whole text.
        """
        if self.shorten is not None:
            return self.shorten(text)
        joining, start = self.joining(), len(text) - 1
        while start > 0 and text[start] in joining:
            start -= 1
        return text[max(start, 0) :]


def send(text: str, channel: Channel) -> str:
    r"""The text that arrives when `text` is sent through a channel.

    - `identity`: the text itself.
    - `strip`: white space at both ends is removed, as by `str.strip`.
    - `nfc`: the text in Unicode normal form C, of Unicode 14.
    - `newlines`: CRLF and CR become LF.
    - `spaces`: each run of white space other than CR and LF becomes one plain space.

    Args:
        text: what is sent.
        channel: the name of the channel.

    Returns:
        What arrives.

    Raises:
        SettingsError: there is no such channel.
        WrongTypeError: `text` is not a str.

    >>> send("a \t b\r\n", "spaces"), send("a \t b\r\n", "newlines"), send("a \t b\r\n", "strip")
    ('a b\r\n', 'a \t b\n', 'a \t b')
    """
    passage = PASSAGES[require_one_of("channel", channel, get_args(Channel))]
    require_text(text)
    return passage.send(text)


_BLANK = re.compile(r"[^\S\r\n]")
_fold_spaces = partial(re.compile(r"[^\S\r\n]+").sub, " ")
_fold_newlines = partial(re.compile(r"\r\n?").sub, "\n")


@cache
def _blank() -> frozenset[str]:
    """White space other than CR and LF."""
    return frozenset(c for c in map(chr, range(0x10000)) if _BLANK.match(c))


@cache
def _white() -> frozenset[str]:
    """White space beyond ASCII."""
    return frozenset(c for c in map(chr, range(0x80, 0x10000)) if c.isspace())


@cache
def _composed() -> frozenset[str]:
    """Characters that NFC changes, alone or together with the character before them."""
    planes = (*range(0x80, 0xD800), *range(0xE000, 0x30000))  # NFC changes nothing above these
    return joining() | {c for c in map(chr, planes) if compose(c) != c}


def _context_composed(text: str) -> str:
    """The context for NFC. To `compose`, no character newer than Unicode 14 is a mark."""
    return context_in_normal_form(text, lambda character: False)


PASSAGES: Mapping[Channel, Passage] = {
    "identity": Passage(),
    "strip": Passage(affected=_white, trims=True),
    "nfc": Passage(compose, joining, _composed, shorten=_context_composed),
    "newlines": Passage(_fold_newlines),
    "spaces": Passage(_fold_spaces, _blank, _white),
}
