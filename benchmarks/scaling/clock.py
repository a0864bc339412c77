"""The time that work takes, on a CPU and on a GPU."""

from __future__ import annotations

import time

import torch


def seconds_of_work(device: torch.device) -> float:
    """A time, which counts when it is subtracted from a later one.

    CPU time on a CPU, which other processes do not lengthen. On a GPU the time that passes until
    all that was asked of it is done.
    """
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        return time.perf_counter()
    return time.process_time()
