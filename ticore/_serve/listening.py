"""A socket of this computer, and an application on it until it is interrupted."""

from __future__ import annotations

import ipaddress
import os
import socket
from importlib import import_module
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from .._support.checks import require_integer
from ..errors import SettingsError
from .connections import Connection

_HIGHEST_PORT = 65535
_MOST_CONNECTIONS = 64
_MOST_ACCEPTED = 256  # at once, before those that are too many are closed
_SECONDS_TO_END = 2
_USUAL_FILES = 1024


def require_port(port: int) -> None:
    """Raises SettingsError if there is no such port. 0 stands for a free one."""
    require_integer("port", port, 0, _HIGHEST_PORT)


def run(app: ASGIApp, listening: socket.socket, most_connections: int = _MOST_CONNECTIONS) -> None:
    """Answer requests until the process is interrupted.

    Args:
        app: what answers.
        listening: where requests arrive; see `listen`.
        most_connections: that may be open at a time.
    """
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",  # the rest is what clients do wrong, and whom the end cut short
        access_log=False,
        loop="asyncio",
        http=Connection,
        ws="none",
        lifespan="off",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=min(most_connections, most_files() // 2),
        backlog=min(_MOST_ACCEPTED, most_files() // 4),
        timeout_graceful_shutdown=_SECONDS_TO_END,
    )
    uvicorn.Server(config).run(sockets=[listening])


def most_files() -> int:
    """How many files this process may have open, connections among them: 256 as macOS is set up."""
    try:
        resource: Any = import_module("resource")
    except ImportError:  # Windows
        return _USUAL_FILES
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _USUAL_FILES if soft == resource.RLIM_INFINITY else int(soft)


def listen(host: str, port: int, to_network: bool, risk: str) -> socket.socket:
    """A socket that listens.

    Args:
        host: a name or an address of this computer.
        port: 0 takes a free one.
        to_network: whether other computers may reach `host`.
        risk: what anyone on the network could then do, for the error.

    Raises:
        SettingsError: the host is not known, or others reach it; or its port cannot be used.
    """
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
            f"{host!r}; anyone on the network could {risk} on their way, which are not encrypted; "
            f"if that is what you want, give --unencrypted-network as well"
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
            f"used ({error.strerror or error}); choose another --port; 0 takes a free one"
        ) from None
    return listening


def as_host(name: str) -> str:
    """A name or an address as addresses of pages have it."""
    return f"[{name}]" if ":" in name else name
