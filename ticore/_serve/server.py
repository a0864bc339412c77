"""The server: a socket of this computer, and the page on it until it is interrupted."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable

import uvicorn

from .._support.checks import require_integer, require_number
from ..errors import SettingsError
from .app import make_app
from .jobs import Jobs
from .models import Models
from .security import LOOPBACK_NAMES, Gate

_HIGHEST_PORT = 65535
_MOST_CONNECTIONS = 64
_SECONDS_TO_END = 2


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
        started: is given the address of the page once it can be opened.

    Raises:
        SettingsError: a number is out of range; the host is not known, or others reach it although
            `to_network` is not set; or its port cannot be used.
    """
    require_integer("port", port, 0, _HIGHEST_PORT)
    require_integer("jobs", at_once, 1)
    require_number("time_limit", seconds, above=0)
    listening = _listen(host, port, to_network)
    address, found_port = listening.getsockname()[:2]
    ip = ipaddress.ip_address(address)
    name = socket.gethostname() if ip.is_unspecified else _as_host(host)
    gate = Gate(LOOPBACK_NAMES | {name.lower(), _as_host(address)}, any_address=not ip.is_loopback)
    config = uvicorn.Config(
        make_app(gate, Jobs(at_once, seconds), Models()),
        log_config=None,
        access_log=False,
        loop="asyncio",
        http="h11",
        ws="none",
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_SECONDS_TO_END,
    )
    with listening:
        started(f"http://{name}:{found_port}/")
        uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int, to_network: bool) -> socket.socket:
    """A socket that listens. Raises SettingsError."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
    except (OSError, UnicodeError) as error:
        raise SettingsError(
            f"host: expected a name or an address of this computer, such as 127.0.0.1, found "
            f"{host!r}, which is not known ({error})"
        ) from None
    if not (to_network or ipaddress.ip_address(address[0]).is_loopback):
        raise SettingsError(
            f"host: expected an address that only this computer reaches, such as 127.0.0.1, found "
            f"{host!r}; anyone on the network could use the page there and read keys and messages "
            f"on their way, which are not encrypted; if that is what you want, give "
            f"--unencrypted-network as well"
        )
    listening = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it would let two programs share the port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()
    except OSError as error:
        listening.close()
        raise SettingsError(
            f"expected a free port of this computer, found that {host!r}, port {port} cannot be "
            f"used ({error.strerror or error}); choose another --port, or none"
        ) from None
    return listening


def _as_host(name: str) -> str:
    """A name or an address as addresses of pages have it."""
    return f"[{name}]" if ":" in name else name
