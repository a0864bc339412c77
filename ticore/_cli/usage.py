"""The error for a wrong command line, which ends with exit status 2."""

from __future__ import annotations

from typing import cast

import typer

# typer raises this error for wrong usage, but exports only a subclass of it.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
