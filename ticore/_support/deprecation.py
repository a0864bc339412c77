"""Old spellings, which keep working for one release and say what to write instead.

@renamed_arguments(tokens="max_new_tokens")
@keywords_after(2)
def generate(model, prompt, *, max_new_tokens): ...

generate(model, prompt, tokens=20)   # DeprecationWarning: ... use max_new_tokens=
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from types import FrameType
from typing import Any, TypeVar, cast

_F = TypeVar("_F", bound=Callable[..., Any])


def warn_deprecated(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn that `old` will go and that `new` takes its place.

    Args:
        old: what was written.
        new: what to write.
        stacklevel: of the line that is blamed, as in `warnings.warn`. Wrappers of this module are
            passed over: Python shows the warning only if the line is the user's own.
    """
    frame: FrameType | None = sys._getframe(stacklevel - 1)
    while frame is not None and frame.f_code.co_filename == __file__:
        stacklevel, frame = stacklevel + 1, frame.f_back
    warnings.warn(f"{old} is deprecated; use {new}", DeprecationWarning, stacklevel=stacklevel)


def renamed_arguments(**new_names: str) -> Callable[[_F], _F]:
    """Accept keyword arguments by their old names: `renamed_arguments(old="new")`.

    Raises:
        TypeError: at the call, where the old and the new name are both given.
    """

    def decorate(function: _F) -> _F:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for old, new in new_names.items():
                if old not in kwargs:
                    continue
                if new in kwargs:
                    raise TypeError(f"expected {new}= alone, found {old}= as well, its old name")
                warn_deprecated(f"{_name_of(function)}({old}=...)", f"{new}=")
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return cast(_F, wrapper)

    return decorate


def keywords_after(count: int) -> Callable[[_F], _F]:
    """Accept keyword-only arguments by position, in the order in which they are declared.

    Args:
        count: how many arguments may be positional, `self` included.
    """

    def decorate(function: _F) -> _F:
        names = [
            name
            for name, parameter in inspect.signature(function).parameters.items()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        ]

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            more = dict(zip(names, args[count:], strict=False))
            if more and len(more) == len(args) - count and not more.keys() & kwargs.keys():
                written = ", ".join(f"{name}=..." for name in more)
                warn_deprecated(f"{_name_of(function)} with these by position", written)
                args = args[:count]
                kwargs |= more
            return function(*args, **kwargs)

        return cast(_F, wrapper)

    return decorate


def _name_of(function: Callable[..., Any]) -> str:
    """What a user calls: the class, if the function is its constructor."""
    return function.__qualname__.removesuffix(".__init__").rpartition("<locals>.")[2]


def moved_names(module: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A module's `__getattr__` for names that have moved or are called otherwise now.

    Args:
        module: `__name__` of the module where the old names were.
        homes: old name -> `new.module:new_name`.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = homes[name].partition(":")
        warn_deprecated(f"{module}.{name}", f"{home}.{new}")
        return getattr(import_module(home), new)

    return find
