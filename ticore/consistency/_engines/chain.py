"""Lists of tokens that never change, and share their beginnings in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

# So few links are made again when others are left out. Else these would stay in memory.
_FEW = 8


class Chain(Sequence[int]):
    """A list of tokens that never changes. To make one that is longer by one takes constant time.

    A longer chain refers to the shorter one and does not copy it. So all beginnings of a text of n
    tokens take n links together. To leave out the first tokens takes constant time as well. Those
    that were left out stay in memory while there are more than a few others.

    Attributes:
        token: the last token; -1 if there is none.
        before: the chain without it, with all tokens that were left out.
        number: how many tokens there are, with those that were left out.
    """

    __slots__ = ("_start", "before", "number", "token")

    def __init__(
        self, token: int = -1, before: Chain | None = None, number: int = 0, start: int = 0
    ) -> None:
        self.token = token
        self.before = before
        self.number = number
        self._start = start

    def then(self, token: int) -> Chain:
        """This chain followed by `token`."""
        return Chain(token, self, self.number + 1, self._start)

    def since(self, number: int) -> Chain:
        """The tokens from the one with this number on. The first token of all has the number 0."""
        count = self.number - number
        if count == 1:  # the most frequent case
            return Chain(self.token, None, self.number, number)
        if not 0 < count <= _FEW:
            return Chain(self.token, self.before, self.number, number)
        first: Chain | None = None
        for at, token in enumerate(reversed([*self._backwards(count)]), start=number + 1):
            first = Chain(token, first, at, number)
        assert first is not None  # there are some tokens
        return first

    def __len__(self) -> int:
        return self.number - self._start

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...
    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        """A token, or a tuple of them for a slice. To look up the last one takes constant time."""
        if index == -1 and len(self):
            return self.token
        if index == slice(-1, None):
            return (self.token,) if len(self) else ()
        return self.ids()[index]

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids())

    def backwards(self) -> Iterator[int]:
        """The tokens, the last one first."""
        return self._backwards(len(self))

    def last(self, count: int) -> tuple[int, ...]:
        """The last `count` tokens, which takes time in proportion to `count`."""
        return tuple(self._backwards(count))[::-1]

    def _backwards(self, count: int) -> Iterator[int]:
        link: Chain | None = self
        for _ in range(count):
            assert link is not None  # there are as many links as tokens
            yield link.token
            link = link.before

    def ids(self) -> tuple[int, ...]:
        """The tokens as a tuple, which takes time in proportion to their number."""
        return tuple(self.backwards())[::-1]
