"""The server: a socket of this computer, and the page on it until it is interrupted."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable

from .._support.checks import require_integer, require_number
from .app import make_app
from .jobs import Jobs
from .listening import as_host, listen, require_port, run
from .models import Models
from .security import LOOPBACK_NAMES, Gate

_RISK = "use the page there and read keys and messages"


def serve(
    host: str,
    port: int,
    *,
    to_network: bool,
    at_once: int,
    seconds: float,
    started: Callable[[str], None],
) -> None:
    """Serve the page until the process is interrupted.

    Args:
        host: a name or an address of this computer.
        port: 0 takes a free one.
        to_network: whether `host` may be reached by other computers. There is no encryption.
        at_once: how many jobs may run at a time.
        seconds: how long a job may take.
        started: is given the address of the page once connections are accepted. They are
            answered after it has returned.

    Raises:
        SettingsError: a number is out of range; the host is not known, or others reach it although
            `to_network` is not set; or its port cannot be used.
    """
    require_port(port)
    require_integer("jobs", at_once, 1)
    require_number("time_limit", seconds, above=0)
    listening = listen(host, port, to_network, _RISK)
    address, found_port = listening.getsockname()[:2]
    ip = ipaddress.ip_address(address)
    name = socket.gethostname() if ip.is_unspecified else as_host(host)
    gate = Gate(LOOPBACK_NAMES | {name.lower(), as_host(address)}, any_address=not ip.is_loopback)
    jobs = Jobs(at_once, seconds)
    try:
        with listening:
            started(f"http://{name}:{found_port}/")
            run(make_app(gate, jobs, Models()), listening)
    finally:
        jobs.end()
