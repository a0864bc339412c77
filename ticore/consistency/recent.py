"""Keeps what was used lately."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """A cache of at most `size` values; the one not used for longest goes first.

    Unlike functools.lru_cache it takes what makes a value at the call, so that the maker may use
    more than the key.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value for `key`, made now if it is not there."""
        try:
            self._values.move_to_end(key)
        except KeyError:
            self._values[key] = make()
            if len(self._values) > self._size:
                self._values.popitem(last=False)
        return self._values[key]

    def __contains__(self, key: K) -> bool:
        return key in self._values

    def drop(self, which: Callable[[K], bool]) -> None:
        """Forget the values of keys for which `which` holds."""
        for key in filter(which, list(self._values)):
            del self._values[key]
