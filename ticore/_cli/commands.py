"""Every command by name, imported when it is asked for: none waits for what the others need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.main import get_group

from .help_sections import SectionedCommand

# Section of the help -> command -> the module here that holds its function or its group.
_SECTIONS = {
    "Messages": {
        "demo": "demo",
        "agree": "messages",
        "embed": "messages",
        "extract": "messages",
        "keygen": "messages",
    },
    "Watermarks": {
        "agree-watermark": "agree_watermark",
        "watermark": "watermark",
        "detect": "detect",
        "detect-server": "detect_server",
        "calibrate": "calibrate",
        "check-key": "check_key",
    },
    "Tokens": {"inspect": "inspection", "drift": "drift", "audit": "audit"},
    "Models": {"fingerprint": "fingerprint", "models": "models"},
    "In a browser": {"serve": "serve"},
}
_PLACES = {
    name: (section, module)
    for section, modules in _SECTIONS.items()
    for name, module in modules.items()
}


class Commands(Mapping[str, Any]):
    """All commands, in the order of the help. Only reading one imports it, not listing names."""

    def __getitem__(self, name: str) -> Any:
        return _command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


def app_with(name: str) -> typer.Typer:
    """An application of this one command, or group of commands. Raises KeyError for no command."""
    section, module = _PLACES[name]
    found = getattr(import_module(f".{module}", __package__), name.replace("-", "_"))
    app = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name, rich_help_panel=section)
    else:
        app.command(name, cls=SectionedCommand, rich_help_panel=section)(found)
    return app


def import_command(arguments: Sequence[str]) -> None:
    """Import the command that these arguments of `ticore` begin with, if they do."""
    Commands().get(next(iter(arguments), ""))


@cache
def _command(name: str) -> Any:
    return get_group(app_with(name)).commands[name]
