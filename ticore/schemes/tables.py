"""What is computed once for a whole vocabulary, and kept in the library that asks for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_jax_namespace

from .base import Array

_MOST_KEPT = 16  # of a vocabulary of 150,000 tokens, 0.6 MB each
_LOCK = Lock()  # of the module, so that what has a cache can be pickled


class Kept:
    """A few results, of which the one that was used longest ago is forgotten first.

    Threads may share it; what two of them ask for at once may be computed twice. A copy, pickled or
    not, begins empty.
    """

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, name: Hashable, make: Callable[[], Any]) -> Any:
        """What `make` returned when it was called for this name."""
        with _LOCK:
            if name in self._values:
                self._values.move_to_end(name)
                return self._values[name]
        made = make()
        with _LOCK:
            self._values[name] = made
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._values)

    def __reduce__(self) -> tuple[type[Kept], tuple[int]]:
        return Kept, (self._most,)


class Tables:
    """Arrays of one row for a vocabulary, in any library and on any device.

    They are computed with NumPy, so that all libraries have the same ones. JAX gets them anew each
    time: what it is given while it compiles must not be kept.
    """

    def __init__(self) -> None:
        self._kept = Kept()

    def get(self, name: str, size: int, like: Array, make: Callable[[], npt.NDArray[Any]]) -> Array:
        """The first `size` entries of a table, in the library of `like` and on its device.

        Args:
            make: the table, where it is not at hand: uint32[n] words, or of another dtype.
        """
        xp = array_namespace(like)
        whole = self._kept.get(name, make)
        if isinstance(whole, np.ndarray) and isinstance(like, np.ndarray):
            return whole[:size]

        def copied() -> Array:
            part = whole[:size]
            if part.dtype == np.uint32:
                part = part.view(np.int32)
            return xp.asarray(part.copy(), device=device(like))

        if is_jax_namespace(xp):
            return copied()
        return self._kept.get((name, size, xp.__name__, str(device(like))), copied)
