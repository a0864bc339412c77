"""The caches of this package. All of them are thread-safe, and none keeps its owner alive.

- `BoundedCache`: values by key, where more than the key is needed to make a value.
- `cached_method`: the results of a method, which its arguments alone determine.
- `TextTable`: a text for each number, as `str.translate` takes it.
- `functools.lru_cache` and `functools.cache`: for functions of modules.

**Limits.** `BoundedCache` and `cached_method` hold at most the number of values that is given where
they are made. For one more, a value is dropped that was not used for long. A `TextTable` holds one
text for each number that it was asked for, such as the code points of the characters that occurred.

**Threads.** Threads that ask for a new value at the same time may all make it. That costs time and
nothing else, since the values are equal. `BoundedCache.get_once` makes it once, and others wait.

**Owners.** `functools.lru_cache` around a bound method makes a cycle: the object holds the cache,
and the cache holds the object. An engine of many megabytes would wait for the garbage collector.
So `cached_method` and `TextTable` hold their object by a weak reference.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from threading import Lock, RLock
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, cast, overload
from weakref import WeakMethod, ref

K = TypeVar("K")
V = TypeVar("V")
P = ParamSpec("P")

_DELETED = "a cached method was called after its object was deleted; hold the object as well"


class _Entry(Generic[V]):
    """A value, and whether it was used since it came or was last looked at."""

    __slots__ = ("used", "value")

    def __init__(self, value: V) -> None:
        self.value = value
        self.used = False


class BoundedCache(Generic[K, V]):
    """Values by key, at most `size` of them. Thread-safe.

    When it is full, the oldest value goes that was not used lately: values are looked at in the
    order in which they came, and one that was used since goes to the end, unused ("second
    chance"). So a hit writes a flag and moves nothing, and threads need no lock for it.

    Args:
        size: how many values it holds.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._entries: dict[K, _Entry[V]] = {}
        # Held while entries are added or dropped, never while a value is made.
        self._lock = Lock()
        # By key, held by the thread that makes the value in `get_once`.
        self._making: dict[K, RLock] = {}

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value for `key`; `make` makes it if it is not there.

        Threads that ask for one key at the same time may all make it; they get one value. If
        `make` raises, so does this, and nothing is cached.
        """
        entry = self._entries.get(key)
        if entry is None:
            return self._add(key, make()).value
        entry.used = True
        return entry.value

    def get_once(self, key: K, make: Callable[[], V]) -> V:
        """As `get`, but of threads that ask at the same time one makes the value, others wait.

        For values that take seconds. If `make` raises, one of those that wait tries again.
        """
        with self._lock:
            making = self._making.setdefault(key, RLock())
        with making:
            try:
                return self.get(key, make)
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def peek(self, key: K) -> V | None:
        """The value for `key`, which counts as used then; None if it is not there."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        entry.used = True
        return entry.value

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def drop(self, which: Callable[[K], bool]) -> None:
        """Drop the values of keys for which `which` holds."""
        with self._lock:
            for key in filter(which, list(self._entries)):
                del self._entries[key]

    def _add(self, key: K, value: V) -> _Entry[V]:
        """The entry of `key`, which another thread may have added meanwhile."""
        with self._lock:
            entry = self._entries.setdefault(key, _Entry(value))
            while len(self._entries) > self._size:
                oldest = next(iter(self._entries))
                its_entry = self._entries.pop(oldest)
                if its_entry.used or its_entry is entry:
                    its_entry.used = False
                    self._entries[oldest] = its_entry
            return entry


def cached_method(
    size: int,
) -> Callable[[Callable[Concatenate[Any, P], V]], _CachedMethod[P, V]]:
    """Cache the results of a method, `size` of them for each object. Thread-safe.

    Arguments are given by position and hashable. The result depends on them and on the object
    alone. Hold the object while you call the method: `Squares().square(3)` raises ReferenceError.

    >>> class Squares:
    ...     @cached_method(1000)
    ...     def square(self, number):
    ...         print("computed")
    ...         return number**2
    >>> squares = Squares()
    >>> squares.square(3), squares.square(3)
    computed
    (9, 9)
    """
    return lambda method: _CachedMethod(method, size)


class _CachedMethod(Generic[P, V]):
    """Puts a cache among the attributes of each object, when the method is first looked up."""

    def __init__(self, method: Callable[Concatenate[Any, P], V], size: int) -> None:
        self._method = method
        self._size = size
        self._name = method.__name__
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> _CachedMethod[P, V]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Callable[P, V]: ...
    def __get__(self, instance: object, owner: type) -> _CachedMethod[P, V] | Callable[P, V]:
        if instance is None:
            return self
        method: Callable[..., V] = self._method
        to_instance = ref(instance)

        def call(*args: Any) -> V:
            if (alive := to_instance()) is None:
                raise ReferenceError(_DELETED)
            return method(alive, *args)

        # Under the method's name Python finds the cache without asking this descriptor again. A
        # method that a subclass overrides is asked for by `super()`, and needs another name.
        found = next(vars(c)[self._name] for c in type(instance).__mro__ if self._name in vars(c))
        name = self._name if found is self else self._method.__qualname__
        cached = cast(Callable[P, V], lru_cache(self._size)(call))
        # Not by `vars(instance)`, which makes all attributes of the object slower in CPython.
        setattr(instance, name, cached)
        return cached


class TextTable(dict[int, str]):
    """A text for each number, found when it is first asked for. Thread-safe.

    `str.translate` takes such a table, whose numbers are code points then.

    Args:
        find: a method that finds the text of a number. Its object is not kept alive.
    """

    def __init__(self, find: Callable[[int], str]) -> None:
        super().__init__()
        self._find = WeakMethod(find)

    def __missing__(self, number: int) -> str:
        if (find := self._find()) is None:
            raise ReferenceError(_DELETED)
        self[number] = found = find(number)
        return found
