"""The service on a socket, until it is interrupted."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable

from ..._support.checks import require_integer, require_number
from ..listening import as_host, listen, require_port, run
from ..security import LOOPBACK_NAMES
from .app import make_app
from .detectors import DetectorSettings
from .gate import Rate, ServiceGate
from .workers import Workers

_MOST_CONNECTIONS = 512  # fewer than the 1,024 files that a process may usually have open
_MOST_PROCESSES = 1024  # more are a slip: each takes memory for itself, and time to start
_RISK = "ask the service there and read texts and tokens"


def serve_detection(
    settings: DetectorSettings,
    host: str,
    port: int,
    *,
    to_network: bool,
    processes: int,
    seconds: float,
    rate: float,
    token: str,
    started: Callable[[str], None],
) -> None:
    """Serve detection until the process is interrupted.

    Args:
        settings: what is looked for.
        host: a name or an address of this computer.
        port: 0 takes a free one.
        to_network: whether `host` may be reached by other computers. There is no encryption.
        processes: how many detect.
        seconds: how long a request may take.
        rate: requests a second from one address; infinity sets no limit.
        token: that requests have to show; empty: none.
        started: is given the address of the service once it answers.

    Raises:
        SettingsError: a number is out of range; the host is not known, or others reach it although
            `to_network` is not set; or its port cannot be used.
        TicoreError: the detectors cannot be opened.
    """
    require_port(port)
    require_integer("processes", processes, 1, _MOST_PROCESSES)
    require_number("time_limit", seconds, above=0)
    if rate != float("inf"):
        require_number("rate", rate, above=0)
    names = settings.open().names  # refused here, and not in each of the processes
    listening = listen(host, port, to_network, _RISK)
    address, found_port = listening.getsockname()[:2]
    is_loopback = ipaddress.ip_address(address).is_loopback
    gate = ServiceGate(LOOPBACK_NAMES | {as_host(host).lower()}, not is_loopback, token)
    workers = Workers(settings, processes, seconds)
    try:
        with listening:
            started(f"http://{as_host(host)}:{found_port}/")
            run(make_app(settings, names, workers, gate, Rate(rate)), listening, _MOST_CONNECTIONS)
    finally:
        workers.close()
