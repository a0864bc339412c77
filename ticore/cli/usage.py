"""The error for a command line that cannot be meant; it ends with status 2."""

from __future__ import annotations

from typing import cast

import typer

# typer exports none but this subclass of the error that it raises for wrong usage.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__base__)
