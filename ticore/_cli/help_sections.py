"""Help in sections: commands and options under the title that each was declared with.

typer prints sections only in boxes, which do not belong in a pipe or a log. These classes print
the same `rich_help_panel` titles as plain text, on a terminal and in a pipe alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand, TyperGroup

WIDEST = 120  # columns of a line of help: longer ones are hard to read

_ARGUMENTS, _OPTIONS, _COMMANDS = "Arguments", "Options", "Commands"
_Entry = tuple[str, tuple[str, str]]  # title of the section, (name, what it is)


class SectionedCommand(TyperCommand):
    """A command whose help has a section for each `rich_help_panel` of its options."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write all sections of arguments and options."""
        _write(formatter, _parameters(self, ctx))


class SectionedGroup(TyperGroup):
    """A group whose help has a section for each `rich_help_panel` of its commands."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write all sections: the commands first, then the options of the group itself."""
        room = formatter.width - 6 - max(map(len, self.commands), default=0)
        commands = [
            (_title(command, _COMMANDS), (name, command.get_short_help_str(room)))
            for name, command in self.commands.items()
            if not command.hidden
        ]
        _write(formatter, [*commands, *_parameters(self, ctx)])


def _parameters(command: TyperCommand | TyperGroup, ctx: Any) -> list[_Entry]:
    found = []
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None:
            default = _OPTIONS
            if parameter.param_type_name == "argument":
                default = _ARGUMENTS
                record = record[0].split(" <")[0], record[1]  # FILE <list[Path]>: no Python types
            found.append((_title(parameter, default), record))
    return found


def _title(described: object, default: str) -> str:
    return getattr(described, "rich_help_panel", None) or default


def _write(formatter: Any, entries: Iterable[_Entry]) -> None:
    """Write the sections in the order of their first entries, but options without a title last."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for title, record in entries:
        sections.setdefault(title, []).append(record)
    for title in sorted(sections, key=lambda title: title == _OPTIONS):
        with formatter.section(title):
            formatter.write_dl(sections[title])
