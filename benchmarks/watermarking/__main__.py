"""The command line: writes the samples that are missing, shows and stores the figures of all."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

import ticore
from benchmarks.about import about
from ticore.files import write_atomically
from ticore.schemes import SCHEMES

from . import __doc__ as usage
from .figures import figures
from .kept import Kept, code_digest, digest_of
from .plan import ATTACKS, UNMARKED, Found, Plan
from .plot import plot
from .prompts import prompts
from .tables import tables
from .workers import written

_PACKAGES = ("ticore", "numpy", "scipy", "torch", "jax")
_WIDTH = 210  # columns that the tables take where nothing says how wide the terminal is
_screen = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
_aside = Console(stderr=True)


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parse(arguments)
    try:
        return _run(given)
    except ticore.TicoreError as error:
        _aside.print(str(error), markup=False)
        return 1


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.watermarking",
        description=usage,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--samples", type=int, default=200, help="of each scheme in each arm")
    parser.add_argument("--tokens", type=int, default=plan.tokens, help="of each text, at most")
    parser.add_argument("--model", dest="place", default=plan.place, metavar="PLACE")
    parser.add_argument("--data", type=Path, metavar="DIR", help="holds prompts/")
    parser.add_argument("--language", default="en", help="of the prompts in DIR: en, ja or zh")
    parser.add_argument(
        "--schemes", nargs="+", choices=SCHEMES, default=plan.schemes, metavar="SCHEME"
    )
    parser.add_argument("--observation", type=int, default=plan.observation, metavar="TOKENS")
    parser.add_argument("--temperature", type=float, default=plan.temperature)
    parser.add_argument("--top-k", type=int, default=plan.top_k)
    parser.add_argument("--top-p", type=float, default=plan.top_p)
    parser.add_argument(
        "--attacks",
        nargs="*",
        choices=ATTACKS,
        default=(),
        metavar="ATTACK",
        help=f"all of them if none is named: {', '.join(ATTACKS)}",
    )
    parser.add_argument("--seed", type=int, default=plan.seed)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("results/watermarking.jsonl"))
    parser.add_argument("--json", type=Path, metavar="FILE", help="where all figures go")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture, .png or .svg")
    given = parser.parse_args(arguments)
    if given.attacks == []:
        given.attacks = list(ATTACKS)
    if given.samples < 1 or given.tokens < 1 or given.processes < 1:
        parser.error("samples, tokens and processes are at least 1")
    return given


def _run(given: argparse.Namespace) -> int:
    settings = {field.name: getattr(given, field.name) for field in fields(Plan)}
    settings |= {name: tuple(settings[name]) for name in ("schemes", "attacks")}
    plan = Plan(**settings)
    begin = prompts(given.data, given.language)
    kept = Kept(given.out, digest_of(plan, ticore.load_model(plan.place), begin))
    done = {(row["scheme"], row["index"]) for row in kept.rows}
    schemes = (UNMARKED, *plan.schemes)
    # All schemes of a sample before the next sample, so that wherever it is cut all have as many.
    wanted = [(scheme, index) for index in range(given.samples) for scheme in schemes]
    tasks = [task for task in wanted if task not in done]
    complete = True
    if tasks:
        try:
            with _bar("samples", len(wanted), len(wanted) - len(tasks)) as bar:
                for row in bar(written(tasks, plan, begin, given.processes)):
                    kept.add(row)
        except KeyboardInterrupt:
            _aside.print("interrupted; the same command goes on from here")
            complete = False
    rows = [row for row in kept.rows if row["index"] < given.samples]
    found = about(_PACKAGES) | {
        "complete": complete,
        "code": code_digest(),
        "settings": plan.shared() | {"schemes": plan.schemes, "samples": given.samples},
    }
    found |= figures(rows, plan.schemes)
    _show(found)
    if given.json is not None:
        given.json.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(given.json, json.dumps(found, ensure_ascii=False, indent=1).encode())
    if given.plot is not None and rows:
        given.plot.parent.mkdir(parents=True, exist_ok=True)
        plot(found, given.plot)
    return 0 if complete else 130


class _Bar:
    def __init__(self, progress: Progress, description: str, total: int, done: int) -> None:
        self._progress = progress
        self._task = progress.add_task(description, total=total, completed=done)

    def __call__(self, items: Iterable[Found]) -> Iterator[Found]:
        for item in items:
            yield item
            self._progress.advance(self._task)


@contextmanager
def _bar(description: str, total: int, done: int) -> Iterator[_Bar]:
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    quiet = not _aside.is_terminal
    with Progress(*columns, console=_aside, transient=True, disable=quiet) as progress:
        yield _Bar(progress, description, total, done)


def _show(found: Found) -> None:
    for table in tables(found):
        if table.row_count:
            _screen.print(table)


if __name__ == "__main__":
    sys.exit(main())
