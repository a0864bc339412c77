"""Functions that make a codec or the like, some of them with arguments that a name sets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial


def builds_alike(one: Callable[..., object], other: Callable[..., object]) -> bool:
    """Whether two builders are the same function with the same arguments set.

    >>> builds_alike(partial(int, base=8), partial(int, base=8)), builds_alike(partial(int), int)
    (True, True)
    """
    return _parts(one) == _parts(other)


def _parts(build: Callable[..., object]) -> tuple[object, ...]:
    if isinstance(build, partial):
        return build.func, build.args, build.keywords
    return build, (), {}
