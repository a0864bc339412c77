"""What `ticore watermark` and `ticore detect` have in common: the scheme, its settings, the key."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from ..errors import SettingsError
from ..schemes import SCHEMES
from ..schemes.green_list import Greening, GreenList
from ..schemes.numbers import LATEST
from ..steganography import load_key
from ..watermarking import WatermarkDetector
from .usage import UsageError

DEFAULT_SCHEME: str = inspect.signature(WatermarkDetector).parameters["scheme"].default
_GREEN = inspect.signature(GreenList).parameters


def _of_green_lists(metavar: str, setting: str, help_text: str) -> Any:
    # Without the option it stays None: a scheme without green lists knows no such setting.
    return typer.Option(
        metavar=metavar,
        help=f"Of schemes with green lists: {help_text}  [default: {_GREEN[setting].default}]",
        show_default=False,
    )


Scheme = Annotated[
    str, typer.Option(metavar="NAME", help=f"The watermark: {', '.join(sorted(SCHEMES))}.")
]
_KEY_FILE = typer.Option(
    metavar="FILE",
    readable=False,
    help="The key that writer and detector share: a file made by `ticore keygen`.",
    show_default=False,
)
KeyFile = Annotated[Path, _KEY_FILE]
KeyFileOfOurs = Annotated[Path | None, _KEY_FILE]
Gamma = Annotated[
    float | None, _of_green_lists("X", "gamma", "the share of tokens that are green.")
]
Delta = Annotated[
    float | None, _of_green_lists("X", "delta", "what is added to the logits of green tokens.")
]
Greens = Annotated[
    str | None,
    _of_green_lists("NAME", "greens", f"how many are green: {', '.join(get_args(Greening))}."),
]
SchemeVersion = Annotated[
    int | None,
    typer.Option(
        "--scheme-version",
        metavar="N",
        help="Of the scheme's random numbers: 1 for texts that were watermarked before there was a "
        f"version 2, or for a reader that knows no other.  [default: {LATEST}]",
        show_default=False,
    ),
]


def read_key(path: Path) -> bytes:
    """The key in a file. Raises FileError, KeyFormatError."""
    return load_key(path)


def scheme_settings(**settings: object) -> dict[str, Any]:
    """Those that were given."""
    return {name: value for name, value in settings.items() if value is not None}


@contextmanager
def wrong_settings_are_wrong_usage() -> Iterator[None]:
    """A setting that the library refuses was given on the command line: status 2."""
    try:
        yield
    except SettingsError as error:
        raise UsageError(str(error)) from error
