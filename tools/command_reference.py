"""The reference of the command line, written from the commands themselves.

    python -m tools.command_reference        # as Markdown, on standard output

The commands are read as Typer reads them: a function's parameters, each annotated with a
`typer.Option` or `typer.Argument`, and its docstring.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

from typer import Typer
from typer.models import ArgumentInfo, CommandInfo, OptionInfo

from ticore._cli.commands import Commands, app_with

_INTRODUCTION = """\
# Command line

A command reads standard input or a file and writes its result to standard output. Messages for a
person go to standard error. Exit status: 0 done, 1 could not, 2 wrong usage, 130 interrupted.

`ticore COMMAND --help` shows the same text as this page.
"""
_DEFAULT = re.compile(r"\s*\[default: ([^]]*)\]$")  # stated in the help, the value being None


@dataclass(frozen=True)
class Command:
    """One command as its user sees it.

    Attributes:
        name: what follows `ticore`.
        help: its docstring.
        arguments: (metavar, help) of each.
        options: (names with metavar, help, default, panel) of each; the panel may be empty.
    """

    name: str
    help: str
    arguments: tuple[tuple[str, str], ...]
    options: tuple[tuple[str, str, str, str], ...]


def commands() -> list[Command]:
    """All commands that `ticore --help` lists, each group followed by its own."""
    return [command for name in Commands() for command in _commands_of(app_with(name))]


def command_reference() -> str:
    """One page: each command with its arguments and options."""
    found = commands()
    overview = [
        f"| [`{one.name}`](#{one.name.replace(' ', '-')}) | {_first_sentence(one.help)} |"
        for one in found
    ]
    lines = [_INTRODUCTION, "| command | what it does |", "| --- | --- |", *overview]
    for one in found:
        lines += _section(one)
    return "\n".join([*lines, ""])


def _commands_of(app: Typer) -> Iterator[Command]:
    yield from (_read(_name(one), one) for one in _shown(app.registered_commands))
    for group in app.registered_groups:
        inner = group.typer_instance
        if inner is None or inner.registered_callback is None:
            continue
        yield _read(str(group.name), inner.registered_callback)
        for one in _shown(inner.registered_commands):
            yield _read(f"{group.name} {_name(one)}", one)


def _shown(registered: list[CommandInfo]) -> list[CommandInfo]:
    return [one for one in registered if one.callback is not None and not one.hidden]


def _name(registered: CommandInfo) -> str:
    return registered.name or str(getattr(registered.callback, "__name__", "")).replace("_", "-")


def _read(name: str, registered: Any) -> Command:
    arguments, options = [], []
    hints = get_type_hints(registered.callback, include_extras=True)
    for parameter in inspect.signature(registered.callback).parameters.values():
        kinds = [
            one
            for one in get_args(hints[parameter.name])
            if isinstance(one, ArgumentInfo | OptionInfo)
        ]
        if not kinds or kinds[0].hidden:
            continue
        (kind,) = kinds
        if isinstance(kind, ArgumentInfo):
            metavar = kind.metavar or parameter.name.upper()
            arguments.append((metavar, kind.help or ""))
        else:
            flag = get_args(hints[parameter.name])[0] is bool
            # In Annotated, typer takes the first name for the default until it reads the command.
            first = [kind.default] if str(kind.default).startswith("-") else []
            names = [str(name) for name in (*first, *(kind.param_decls or ()))]
            if not any(name.startswith("--") for name in names):
                names.append(f"--{parameter.name.replace('_', '-')}")
            shown = ", ".join(names) if flag else f"{', '.join(names)} {kind.metavar or 'TEXT'}"
            said, default = _DEFAULT.sub("", kind.help or ""), _default(kind, parameter)
            options.append((shown, said, default, kind.rich_help_panel or ""))
    text = registered.help or inspect.getdoc(registered.callback) or ""
    return Command(name, text, tuple(arguments), tuple(options))


def _default(kind: OptionInfo, parameter: inspect.Parameter) -> str:
    if stated := _DEFAULT.search(kind.help or ""):
        return stated[1]
    if isinstance(kind.show_default, str):
        return kind.show_default
    if parameter.default is inspect.Parameter.empty:
        return "required"
    if isinstance(parameter.default, bool) or parameter.default in (None, "", ()):
        return ""
    return f"`{parameter.default}`"


def _section(command: Command) -> Iterator[str]:
    usage = ["ticore", command.name]
    usage += ["[OPTIONS]"] if command.options else []
    usage += [f"[{metavar}]" for metavar, _ in command.arguments]
    yield from ("", f"## {command.name}", "", "```text", " ".join(usage), "```", "")
    yield _paragraphs(command.help)
    if command.arguments:
        yield from ("", "| argument | meaning |", "| --- | --- |")
        yield from (f"| `{metavar}` | {_cell(text)} |" for metavar, text in command.arguments)
    for panel in dict.fromkeys(panel for *_, panel in command.options):
        if panel:
            yield from ("", f"**{panel}**")
        yield from ("", "| option | meaning | default |", "| --- | --- | --- |")
        for names, text, default, its_panel in command.options:
            if its_panel == panel:
                yield f"| `{names}` | {_cell(text)} | {default} |"


def _paragraphs(text: str) -> str:
    """Help text as Markdown: a paragraph that is marked to keep its lines becomes a block."""
    found = []
    for paragraph in text.strip().split("\n\n"):
        if paragraph.startswith("\b"):
            found.append(f"```text\n{paragraph.removeprefix(chr(8)).strip(chr(10))}\n```")
        else:
            found.append(_one_line(paragraph))
    return "\n\n".join(found)


def _first_sentence(text: str) -> str:
    return _cell(text.strip().split("\n\n")[0])


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip().replace("<", "&lt;")


def _cell(text: str) -> str:
    return _one_line(text).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(command_reference())
