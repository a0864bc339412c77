"""All commands in one application. Here, and only here, an error becomes a line and a status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

import typer
from typer.main import get_command

from .._support.visible import visible
from .._version import __version__
from ..errors import TicoreError
from . import streams
from .commands import Commands, import_command
from .help_sections import WIDEST, SectionedGroup
from .json_errors import error_said
from .option_names import with_option_names
from .usage import UsageError

FAILED, WRONG_USAGE = 1, 2
INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended
_LONGEST = 2000  # characters of an error's text

# "\b" keeps typer from joining the lines that follow.
EXAMPLES = """\b
Try it:          ticore demo
Agree, once:     ticore agree --prompt "It was a cold morning" -o shared.json
Hide a message:  ticore embed --agreement shared.json < message > text.txt
Read it:         ticore extract --agreement shared.json < text.txt
A key alone:     ticore keygen -o K
Share settings:  ticore agree-watermark -o mark.json
Watermark:       ticore watermark --agreement mark.json > text.txt
Look for it:     ticore detect --agreement mark.json text.txt
See tokens:      ticore inspect "Some text"
Changed ids:     ticore drift rollouts.jsonl
In a browser:    ticore serve

\b
Both files hold a key: send them over a channel that you trust.
Exit status: 0 done, 1 could not, 2 wrong usage, 130 interrupted.
Errors go to standard error.
"""


class _EveryCommand(SectionedGroup):
    """The group of all commands, of which one run imports one."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "commands": Commands()})


app = typer.Typer(
    cls=_EveryCommand,
    help="Make the tokens a language model emits survive being turned into text and read back.",
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        streams.write_bytes(f"ticore {__version__}\n".encode())
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        streams.note(context.get_help())
        raise typer.Exit(WRONG_USAGE)


def main() -> None:
    """Run the command line and exit."""
    sys.exit(run(sys.argv[1:]))


def prepare(arguments: Sequence[str]) -> Callable[[], int]:
    """Import all that one command line needs. What is left to do is to call the result: `run`."""
    import_command(arguments)
    return partial(run, arguments)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit status.

    Args:
        arguments: what follows `ticore` on the command line.

    Returns:
        0 done, 1 could not, 2 wrong usage, 130 interrupted.
    """
    if sys.stderr is None:
        # Closed by the caller: print would take standard output instead.
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115  # open until the end
    try:
        command = get_command(app)
        status = command.main(list(arguments), prog_name="ticore", standalone_mode=False)
    except TicoreError as error:
        return _fail(_with_locale_advice(error_said(error), arguments))
    except UsageError as error:
        path = error.ctx.command_path if error.ctx else "ticore"
        given = error.ctx.params if error.ctx else {}
        said = with_option_names(error.format_message().rstrip("."), given)
        said = _with_locale_advice(said, arguments)
        return _fail(f"{said}; see: {path} --help", WRONG_USAGE)
    except OSError as error:
        streams.abandon_stdout()
        return _fail(error_said(error))
    except MemoryError:
        return _fail(
            "expected memory for the work, found too little; give less at a time, such as a "
            "shorter text or a smaller --batch-size"
        )
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    if status == INTERRUPTED:
        if sys.stderr.isatty():
            streams.note()  # The cursor is after a ^C or a question: begin a new line.
        return _fail("interrupted", INTERRUPTED)
    return int(status or 0)


def _with_locale_advice(said: str, arguments: Sequence[str]) -> str:
    """An error's text, with advice where the locale made the characters that the error is about."""
    encoding = sys.getfilesystemencoding()
    undecoded = any("\udc80" <= c <= "\udcff" for argument in arguments for c in argument)
    if not undecoded or encoding == "utf-8" or "nicode" not in said:
        return said
    return (
        f"{said}; in this locale arguments are read as {encoding}, which does not have some of "
        f"the characters given: set LC_ALL=C.UTF-8, or PYTHONUTF8=1"
    )


def _fail(text: str, status: int = FAILED) -> int:
    if len(text) > _LONGEST:  # An error repeats what it found, which may be a whole file.
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    streams.note(f"ticore: {visible(text)}")
    return status
