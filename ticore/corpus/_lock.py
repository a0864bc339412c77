"""A lock, so that only one scan at a time writes an output. It ends with its process."""

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

# The errors of locking a file that another process or thread has locked.
_HELD = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}


class HeldError(Exception):
    """The lock is taken. The text names the process that has it, if that is known."""


class Lock:
    """A locked file. Use one per thread.

    The system releases the lock when the process ends, however it ends. On a file system
    without locks, every `Lock` succeeds.

    Args:
        path: the file, which is created. Its folder must exist.

    Raises:
        HeldError: another process or thread has the lock.
        OSError: the file cannot be created, for example because its folder was just removed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        while True:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                self._take()
                # The scan that had the lock before may have removed the file after it was opened.
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
        """Release the lock and remove the file. A second call does nothing."""
        if self._descriptor < 0:
            return
        if sys.platform != "win32":  # Windows cannot remove an open file.
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
