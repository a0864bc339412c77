"""What a channel is: what a reader takes a text for, whatever happened to it on its way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

Change = Callable[[str, Random], str]
"""`f(text, random)`: one thing that may happen to a text. What is by chance comes from `random`."""

_MOST_ROUNDS = 16


@dataclass(frozen=True)
class Channel:
    r"""What may happen to a text on its way, and which texts come through.

    A channel is one function, `read`. Texts that it leaves alone, `read(text) == text`, come
    through: whatever the channel does to such a text, `read` gives it back. Example: a channel that
    may double spaces reads each run of spaces as one. So texts with two spaces in a row are never
    written.

    The function has three properties:

    1. It is *idempotent*: `read(read(text)) == read(text)`.
    2. It undoes every change to a text that it leaves alone, in any order, any number of times:
       `read(another(change(text, random), random)) == text`.
    3. It is *local*: whether it leaves a text alone is seen in pieces of 2 x `reach` characters,
       and at the text's ends. Where this does not hold, more texts have to be thrown away.

    `ticore.testing.ChannelContract` tests the first two.

    Attributes:
        name: what agreements record. Both sides use the same name for the same channel.
        about: what the channel does, in a line.
        read: the text that a reader takes a text for.
        reach: how many characters before a place decide what may stand there.
        fillers: texts with which another may go on. A text is left alone so far if it is with one
            of them.
        changes: what may happen to a text, by name, for tests and simulations.
    """

    name: str
    about: str
    read: Callable[[str], str]
    reach: int = 2
    fillers: tuple[str, ...] = ("q",)
    changes: Mapping[str, Change] = field(default_factory=dict)

    def leaves(self, text: str) -> bool:
        """Whether the channel leaves a text alone."""
        return self.read(text) == text


def joined(channels: Sequence[Channel], name: str, about: str) -> Channel:
    """A channel that does what all of these do.

    Args:
        channels: what to join; the first one reads first.
        name, about: of the joined channel.
    """
    return Channel(
        name,
        about,
        _ReadByAll(tuple(channel.read for channel in channels)),
        max(channel.reach for channel in channels),
        tuple(dict.fromkeys(filler for channel in channels for filler in channel.fillers)),
        {name: change for channel in channels for name, change in channel.changes.items()},
    )


@dataclass(frozen=True)
class _ReadByAll:
    """What all of these functions make of a text. Unlike a closure it can be pickled."""

    reads: tuple[Callable[[str], str], ...]

    def __call__(self, text: str) -> str:
        # What one of them makes may be something that another one changes.
        for _ in range(_MOST_ROUNDS):
            before = text
            for read in self.reads:
                text = read(text)
            if text == before:
                break
        return text
