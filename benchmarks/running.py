"""What benchmarks of samples have in common: options, the run itself, and what comes of it."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn
from rich.table import Table

import ticore
from ticore.files import write_atomically

from .kept import Kept
from .workers import Found, Task, Write, written

_WIDTH = 210  # columns that the tables take where nothing says how wide the terminal is
_screen = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
_aside = Console(stderr=True)


def command(name: str, usage: str | None) -> argparse.ArgumentParser:
    """A command line that shows a benchmark's own text as it stands, without options."""
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=usage,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def options(name: str, usage: str | None, samples: int) -> argparse.ArgumentParser:
    """The options that all of these benchmarks have.

    Args:
        name: of the benchmark.
        usage: what it says of itself.
        samples: how many of each kind it writes if not told otherwise.
    """
    parser = command(name, usage)
    parser.add_argument("--samples", type=positive, default=samples, help="of each kind")
    parser.add_argument("--model", dest="place", default="tiny-en", metavar="PLACE")
    parser.add_argument("--data", type=Path, metavar="DIR", help="holds prompts/")
    parser.add_argument("--language", default="en", help="of the prompts in DIR: en, ja or zh")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=positive, default=2)
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(f"results/{name}.jsonl"),
        help="where samples are kept, to go on from",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all figures go")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture, .png or .svg")
    return parser


def positive(text: str) -> int:
    """A whole number from 1 on, for an option."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return int(text)


def attempt(run: Callable[[argparse.Namespace], int], given: argparse.Namespace) -> int:
    """The exit status of `run`; 1, and its text on the screen, where it ends with an error."""
    try:
        return run(given)
    except ticore.TicoreError as error:
        _aside.print(str(error), markup=False)
        return 1


def write_missing(
    kept: Kept,
    wanted: Sequence[Task],
    names: Sequence[str],
    open_: Callable[[], Write],
    processes: int,
) -> tuple[list[Found], bool]:
    """Write the samples that are not kept yet, each of them kept at once.

    Args:
        kept: the samples there are.
        wanted: those there should be.
        names: what the parts of a task are called in its sample.
        open_: gives what writes, see `written`.
        processes: how many write.

    Returns:
        The wanted samples, and whether all of them are there: the run may have been interrupted.
    """

    def task(row: Found) -> Task:
        return tuple(row[name] for name in names)

    done = set(map(task, kept.rows))
    missing = [one for one in wanted if one not in done]
    columns = ("samples", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=_aside, transient=True, disable=not _aside.is_terminal)
    complete = True
    try:
        with progress:
            bar = progress.add_task("", total=len(wanted), completed=len(wanted) - len(missing))
            for row in written(missing, open_, processes) if missing else ():
                kept.add(row)
                progress.advance(bar)
    except KeyboardInterrupt:
        _aside.print("interrupted; the same command goes on from here")
        complete = False
    here = set(wanted)
    return [row for row in kept.rows if task(row) in here], complete


def report(
    found: Found,
    tables: Iterable[Table],
    plot: Callable[[Found, Path], None],
    given: argparse.Namespace,
) -> int:
    """Show, store and draw what was found, as far as it is asked for; the exit status."""
    shown = [table for table in tables if table.row_count]
    for table in shown:
        _screen.print(table)
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(given.json, json.dumps(found, ensure_ascii=False, indent=1).encode())
    if given.plot is not None and shown:
        given.plot.parent.mkdir(parents=True, exist_ok=True)
        plot(found, given.plot)
    return 0 if found["complete"] else 130
