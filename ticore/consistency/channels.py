"""What happens to a text on its way: a messenger strips it, a web form folds its line ends.

Under a channel, what comes back for a list H of tokens is encode(channel(decode(H))). All channels
are *local*: what they do to a text shows in a few neighbouring characters, or at its very ends. And
they change a text once: what has passed a channel passes it unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

from .characters import compose
from .normalization import context_in_normal_form, joining

Channel = Literal["identity", "strip", "nfc", "newlines", "spaces"]


def _nothing() -> frozenset[str]:
    return frozenset()


@dataclass(frozen=True)
class Passage:
    """What one channel does.

    Attributes:
        inside: to a text that goes on on both sides.
        joining: characters that it may change together with what stands before them.
        affected: characters beyond ASCII that it may change, `joining` ones included.
        trims: white space at both ends of a text goes.
        shorten: what stands for the end of a text that it leaves alone; None for that end itself.
    """

    inside: Callable[[str], str] = str
    joining: Callable[[], frozenset[str]] = _nothing
    affected: Callable[[], frozenset[str]] = _nothing
    trims: bool = False
    shorten: Callable[[str], str] | None = None

    def send(self, text: str) -> str:
        """What arrives of a whole text."""
        arrived = self.inside(text)
        return arrived.strip() if self.trims else arrived

    def head(self, text: str) -> str:
        """The characters at the beginning of `text` that may be changed with what is before it."""
        joining, end = self.joining(), 0
        while end < len(text) and text[end] in joining:
            end += 1
        return text[:end]

    def context(self, text: str) -> str:
        """What may be changed with what comes after `text`, if that itself is left alone.

        Characters that stand for those at its end: of a text that grows, the context so far and
        what follows have the same context as the whole.
        """
        if self.shorten is not None:
            return self.shorten(text)
        joining, start = self.joining(), len(text) - 1
        while start > 0 and text[start] in joining:
            start -= 1
        return text[max(start, 0) :]


def send(text: str, channel: Channel) -> str:
    r"""What arrives of `text`.

    - `identity`: the text.
    - `strip`: the text without the white space at both ends, as by `str.strip`.
    - `nfc`: the text in Unicode's normal form C, of Unicode 14.
    - `newlines`: CRLF and CR become LF.
    - `spaces`: each run of white space that ends no line becomes one plain space.

    >>> send("a \t b\r\n", "spaces"), send("a \t b\r\n", "newlines"), send("a \t b\r\n", "strip")
    ('a b\r\n', 'a \t b\n', 'a \t b')
    """
    return PASSAGES[channel].send(text)


_BLANK = re.compile(r"[^\S\r\n]")
_fold_spaces = partial(re.compile(r"[^\S\r\n]+").sub, " ")
_fold_newlines = partial(re.compile(r"\r\n?").sub, "\n")


@cache
def _blank() -> frozenset[str]:
    """White space that ends no line."""
    return frozenset(c for c in map(chr, range(0x10000)) if _BLANK.match(c))


@cache
def _white() -> frozenset[str]:
    """White space beyond ASCII."""
    return frozenset(c for c in map(chr, range(0x80, 0x10000)) if c.isspace())


@cache
def _composed() -> frozenset[str]:
    """What NFC changes, alone or with its predecessor."""
    planes = (*range(0x80, 0xD800), *range(0xE000, 0x30000))  # above them it changes nothing
    return joining() | {c for c in map(chr, planes) if compose(c) != c}


def _context_composed(text: str) -> str:
    """What Unicode 14 lacks is no mark to `compose`."""
    return context_in_normal_form(text, lambda character: False)


PASSAGES: Mapping[Channel, Passage] = {
    "identity": Passage(),
    "strip": Passage(affected=_white, trims=True),
    "nfc": Passage(compose, joining, _composed, shorten=_context_composed),
    "newlines": Passage(_fold_newlines),
    "spaces": Passage(_fold_spaces, _blank, _white),
}
