"""Arrays with one entry per token id: computed once, and cached in each library that needs them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
from array_api_compat import array_namespace, device, is_jax_namespace

from ._base import Array

_MOST_RESULTS = 16  # of a vocabulary of 150,000 tokens, 0.6 MB each
_LOCK = Lock()  # of the module: an object with a lock of its own could not be pickled


class ResultCache:
    """A few results; when it is full, the one that was used longest ago is dropped.

    Thread-safe. A result that two threads ask for at the same time may be computed twice. A copy,
    pickled or not, is empty.
    """

    def __init__(self, most: int = _MOST_RESULTS) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, Any] = OrderedDict()

    def get(self, name: Hashable, make: Callable[[], Any]) -> Any:
        """The result of `make` under this name, from the cache if it is there."""
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

    def __reduce__(self) -> tuple[type[ResultCache], tuple[int]]:
        return ResultCache, (self._most,)


class ArrayCache:
    """Arrays with one entry per token id, in any library and on any device. Thread-safe.

    They are computed with NumPy, so they are the same in all libraries. In other libraries uint32
    becomes int32 with the same bits. For JAX they are converted at each call: an array that JAX
    sees while it compiles must not be cached.
    """

    def __init__(self) -> None:
        self._results = ResultCache()

    def get(self, name: str, size: int, like: Array, make: Callable[[], npt.NDArray[Any]]) -> Array:
        """The first `size` entries of an array, in the library of `like` and on its device.

        Args:
            name: of the array.
            size: at most its length.
            like: an array of the library.
            make: computes the array: uint32[n] words, or another dtype.
        """
        xp = array_namespace(like)
        whole = self._results.get(name, make)
        if isinstance(whole, np.ndarray) and isinstance(like, np.ndarray):
            return whole[:size]

        def converted() -> Array:
            part = whole[:size]
            if part.dtype == np.uint32:
                part = part.view(np.int32)
            return xp.asarray(part.copy(), device=device(like))

        if is_jax_namespace(xp):
            return converted()
        return self._results.get((name, size, xp.__name__, str(device(like))), converted)
