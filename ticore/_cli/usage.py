"""The error for a wrong command line, which ends with exit status 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

import typer

from ..errors import SettingsError

# typer raises this error for wrong usage, but exports only a subclass of it.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__base__)


@contextmanager
def wrong_settings_are_wrong_usage() -> Iterator[None]:
    """A setting that the library refuses was given on the command line: status 2."""
    try:
        yield
    except SettingsError as error:
        raise UsageError(str(error)) from error
