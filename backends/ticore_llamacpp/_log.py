"""What llama.cpp logs, which else goes to stderr: hundreds of lines for each model."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

import llama_cpp

_ERROR = 4  # GGML_LOG_LEVEL_ERROR
# The binding's own switch, as `Llama(verbose=False)` sets it, unless it was set: what was read is
# freed at any time, and logged then.
_logger = logging.getLogger("llama-cpp-python")
if _logger.level == logging.NOTSET:
    _logger.setLevel(logging.ERROR)
_lock = Lock()  # llama.cpp has one log for the whole process
_errors: list[str] = []


# It lives as long as the process: another thread may log while it is set.
@llama_cpp.llama_log_callback  # type: ignore[untyped-decorator, unused-ignore]  # not installed in CI
def _keep(level: int, text: bytes, _: Any) -> None:
    if level == _ERROR:
        _errors.append(text.decode(errors="replace").strip())


@contextmanager
def errors_of_llama() -> Iterator[list[str]]:
    """The errors that are logged inside, complete at its end; nothing else is shown."""
    found: list[str] = []
    with _lock:
        before, data = llama_cpp.llama_log_callback(), ctypes.c_void_p()
        llama_cpp.llama_log_get(ctypes.byref(before), ctypes.byref(data))
        _errors.clear()
        llama_cpp.llama_log_set(_keep, ctypes.c_void_p(0))
        try:
            yield found
        finally:
            llama_cpp.llama_log_set(before, data)
            found.extend(_errors)


def reason(errors: Sequence[str]) -> str:
    """Why llama.cpp failed: the first error that it logged, which the others follow from."""
    return errors[0] if errors else "it does not say why"
