"""Imports of packages that only some scans need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .._support.installing import how_to_install
from ..errors import MissingExtraError


def require_module(module: str, extra: str, purpose: str) -> Any:
    """Import a module.

    Args:
        module: its name.
        extra: the extra of ticore that installs it.
        purpose: what needs it, for the error.

    Raises:
        MissingExtraError: it is not installed. The error says how to install it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{purpose} needs the package {error.name!r}, which is not installed; "
            f"{how_to_install(extra)}"
        ) from error
