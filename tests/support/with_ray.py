"""Scans on a local Ray cluster, in a process of their own.

Ray leaves sockets, files and processes open when it is shut down.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

_PROGRAM = """
import pickle, sys
import ray
scan, given, task = pickle.load(sys.stdin.buffer)
ray.init(num_cpus=1, log_to_driver=False, include_dashboard=False)
scan(given, task, executor="ray")
"""


def scan_with_ray(scan: Callable[..., Any], given: Any, task: Any) -> None:
    """Call `scan(given, task, executor="ray")`."""
    data = pickle.dumps((scan, given, task))
    command = [sys.executable, "-c", _PROGRAM]
    subprocess.run(command, input=data, check=True, capture_output=True)
