"""Tables that are filled as they are read."""

from __future__ import annotations

from collections.abc import Callable


class Lazy(dict[int, str]):
    """A text for each number, found when it is first asked for; also for str.translate.

    Args:
        find: finds it.
    """

    def __init__(self, find: Callable[[int], str]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, number: int) -> str:
        self[number] = found = self._find(number)
        return found
