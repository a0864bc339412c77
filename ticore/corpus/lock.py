"""At most one scan at a time is at an output: a lock that ends with the process that holds it."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# What locking a file says where somebody else has it.
_HELD = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}


class HeldError(Exception):
    """Somebody else has the lock; the text says which process, if that can be found out."""


class Lock:
    """A file that one process has at a time.

    The system lets go of it when the process ends, however that happens. On a file system that
    knows no locks everybody has it.

    Args:
        path: the file; it is made, in a folder that exists.

    Raises:
        HeldError: somebody else has it.
        OSError: the file cannot be made, also since the folder was removed meanwhile.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        while True:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                self._take()
                # Whoever had it before may have removed the file since it was opened.
                if self._is_there():
                    break
            except BaseException:
                os.close(self._descriptor)
                raise
            os.close(self._descriptor)
        with suppress(OSError):
            os.ftruncate(self._descriptor, 0)
            os.write(self._descriptor, str(os.getpid()).encode())

    def release(self) -> None:
        """Let go, and remove the file. The second time nothing happens."""
        if self._descriptor < 0:
            return
        if sys.platform != "win32":  # where a file that is open cannot be removed
            with suppress(OSError):
                self._path.unlink()
        os.close(self._descriptor)
        self._descriptor = -1
        if sys.platform == "win32":
            with suppress(OSError):
                self._path.unlink()

    def _take(self) -> None:
        try:
            if sys.platform == "win32":
                msvcrt.locking(self._descriptor, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _HELD:
                raise HeldError(self._holder()) from None

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.stat(self._path))
        except FileNotFoundError:
            return False

    def _holder(self) -> str:
        with suppress(OSError):
            number = os.read(self._descriptor, 20)
            if number.isdigit():
                return f"process {number.decode()}"
        return "another process"
