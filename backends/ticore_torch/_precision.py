"""How numbers are computed: the same bits for the same calls, and float64 where it was asked for.

The same calls in the same order give the same bits on the same machine: no TensorFloat32, no
kernel that adds in the order in which threads happen to finish. Other devices, other versions of
PyTorch and another number of threads may differ in the last bits.

PyTorch keeps these settings for the whole process. So forward passes of models loaded by this
package run one at a time, in whichever threads they are, and each gives the settings back. Nor does
a model open meanwhile, which sets and reads the default dtype. While one runs, other PyTorch code
in other threads sees the settings too: deterministic algorithms, full float32 products and, for a
float64 model, float64 as the default dtype.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# Without it cuBLAS may add in another order each time, and PyTorch refuses to use it.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

# Where PyTorch may compute float32 in something less precise. Its own annotations lack some.
_backends: Any = torch.backends
_SHORTENED = (_backends.cuda.matmul, _backends.cudnn.conv, _backends.mkldnn.matmul)

# Held while settings of the process are changed, those of PyTorch and those of transformers.
# Reentrant: a pass may open another one.
PROCESS_SETTINGS = threading.RLock()

_NARROW = torch.float32
_FLOAT, _DOUBLE = torch.Tensor.float, torch.Tensor.double


class WideFloats(TorchFunctionMode):
    """Inside it, code that asks PyTorch for float32 gets float64.

    transformers computes normalization, rotary angles and softmax in float32, in whichever dtype
    a model is. That protects half precision; in float64 it would leave seven digits of sixteen.

    >>> with WideFloats():
    ...     torch.ones(2).dtype, torch.ones(2).to(torch.float32).dtype
    (torch.float64, torch.float64)
    """

    def __enter__(self) -> WideFloats:
        self._default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        super().__enter__()  # type: ignore[no-untyped-call]  # untyped in torch
        return self

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)  # type: ignore[no-untyped-call]  # untyped in torch
        torch.set_default_dtype(self._default)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        # Called hundreds of times per token, and hardly ever by code that asks for float32.
        if func is _FLOAT:
            func = _DOUBLE
        for value in args:
            if value is _NARROW:
                args = tuple(map(_wide, args))
                break
        if not kwargs:
            return func(*args)
        return func(*args, **{name: _wide(value) for name, value in kwargs.items()})


class NarrowFinder(TorchDispatchMode):
    """Watches for results less precise than float64.

    Attributes:
        found: names of the operations that gave one.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # untyped in torch
        self.found: list[str] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        results = func(*args, **(kwargs or {}))
        for result in tree_leaves(results):
            floats = isinstance(result, torch.Tensor) and result.is_floating_point()
            if floats and result.dtype is not torch.float64:
                self.found.append(str(func))
        return results


def widened(dtype: torch.dtype) -> AbstractContextManager[object]:
    """`WideFloats` if `dtype` is float64, else a context that does nothing."""
    return WideFloats() if dtype is torch.float64 else nullcontext()


@contextmanager
def reproducible(dtype: torch.dtype) -> Iterator[None]:
    """Compute in `dtype`, reproducibly and without gradients; one thread at a time.

    The process's settings come back at the end.
    """
    with PROCESS_SETTINGS:
        yield from _reproducible(dtype)


def _reproducible(dtype: torch.dtype) -> Iterator[None]:
    precisions = [place.fp32_precision for place in _SHORTENED]
    strict = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        for place in _SHORTENED:
            place.fp32_precision = "ieee"
        torch.use_deterministic_algorithms(True)
        with widened(dtype), torch.inference_mode():
            yield
    finally:
        torch.use_deterministic_algorithms(strict, warn_only=warn_only)
        for place, precision in zip(_SHORTENED, precisions, strict=True):
            place.fp32_precision = precision


def _wide(value: Any) -> Any:
    return torch.float64 if value is _NARROW else value
