"""Worker processes that do not outlive the process that started them."""

from __future__ import annotations

import multiprocessing
import os
import threading


def end_with_parent() -> None:
    """Have this worker process end as soon as the one that started it is gone.

    Call it when the worker starts. A process that is killed ends none of its workers, and a worker
    that waits for tasks would wait for ever, with all that it has in memory. In a process that no
    other one started through `multiprocessing` this does nothing.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def _end_after(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
