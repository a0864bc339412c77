"""Packages that only some scans need."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..errors import MissingExtraError
from ..installing import how_to_install


def need(module: str, extra: str, purpose: str) -> Any:
    """The module, imported. Raises MissingExtraError that says how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"{purpose} needs the package {error.name!r}, which is not installed; "
            f"{how_to_install(extra)}"
        ) from error
