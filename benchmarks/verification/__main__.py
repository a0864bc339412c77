"""The command line: reads the settings, runs what is asked, shows and stores what was found."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TypeVar, get_args

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn, track
from rich.table import Table

import ticore
from benchmarks.about import about
from ticore import consistency
from ticore.consistency import Mode, Verifier
from ticore.files import write_atomically

from . import __doc__ as usage
from .places import Place, places
from .plan import Found, Plan
from .plot import plot
from .rejections import rejections
from .runs import LENGTHS, push_in_runs, runs
from .soak import Cases, Soak
from .speed import measure
from .tables import mismatch_text, rejections_table, runs_table, soak_tables, times_tables
from .texts import FOR_REJECTIONS, FOR_TIMES, texts

T = TypeVar("T")

_MODES: tuple[Mode, ...] = get_args(Mode)
_WIDTH = 150  # columns that the tables take where nothing says how wide the terminal is
_PACKAGES = ("ticore", "numpy", "regex", "sentencepiece", "tokenizers", "tiktoken")

_screen = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False)
_aside = Console(stderr=True)


def main() -> int:
    given = _parse()
    if given.from_json is not None:
        found = json.loads(given.from_json.read_text())
        _show(times_tables(found))
        if given.plot is not None:
            _draw(found, given.plot)
        return 0
    if given.soak is not None:
        return _soak(given)
    if given.runs is not None:
        return _time_runs(given)
    return _count_rejections(given) if given.rejections else _time(given)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.verification",
        description=usage,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    where = parser.add_argument_group("what to measure on")
    where.add_argument("--data", type=Path, metavar="DIR", help="holds tokenizers/ and corpora/")
    where.add_argument(
        "--tokenizer",
        action="append",
        default=[],
        metavar="PLACE",
        help="BACKEND:LOCATION, or a name that is known in DIR; may be repeated",
    )
    where.add_argument("--texts", type=Path, nargs="+", default=[], metavar="FILE")
    where.add_argument(
        "--mode",
        action="append",
        choices=_MODES,
        help="may be repeated; for times prefix if not given, else all",
    )
    where.add_argument("--seed", type=int, default=0)
    where.add_argument("--json", type=Path, metavar="FILE", help="where all numbers go")

    plan = Plan()
    times = parser.add_argument_group("times")
    times.add_argument("--lengths", type=int, nargs="+", default=plan.lengths, help="of history")
    for name, kind, what in (
        ("passages", int, "of each text at each length"),
        ("steps", int, "tokens walked in each"),
        ("sample", int, "ids that the slower rungs are asked for"),
        ("patience", float, "seconds for one sample"),
        ("loads", int, "times that tables are built and loaded"),
    ):
        times.add_argument(f"--{name}", type=kind, default=getattr(plan, name), help=what)
    times.add_argument("--full", action="store_true", help="no samples; takes hours")
    times.add_argument("--plot", type=Path, metavar="FILE", help="a figure, .png or .svg")
    times.add_argument(
        "--from-json", type=Path, metavar="FILE", help="measure nothing, show what FILE holds"
    )

    times.add_argument(
        "--runs",
        type=int,
        nargs="*",
        metavar="N",
        help="only what a push takes in runs of so many characters without a boundary",
    )

    right = parser.add_argument_group("is it right")
    right.add_argument("--soak", type=int, metavar="N", help="candidates to check, in all")
    right.add_argument(
        "--out",
        type=Path,
        default=Path("results/verification_soak.jsonl"),
        help="where cases are kept, to go on from",
    )

    forbidden = parser.add_argument_group("what is rejected")
    forbidden.add_argument("--rejections", action="store_true")
    forbidden.add_argument("--places", type=int, default=3000, help="tokens of each text")
    return parser.parse_args()


def _time(given: argparse.Namespace) -> int:
    _use_one_core()
    kept = {field.name for field in fields(Plan)} & vars(given).keys()
    plan = Plan(modes=given.mode or ("prefix",), **{name: getattr(given, name) for name in kept})
    chosen = texts(given.texts, given.data, FOR_TIMES)
    found = _about(asdict(plan) | {"texts": list(chosen)})
    found |= {"tokenizers": [], "skipped": {}}
    try:
        for place in places(given.tokenizer, given.data):
            _aside.print(f"{place.name}: {place.where}")
            found["tokenizers"].append({"name": place.name})
            try:
                measure(place, plan, chosen, _track, found["tokenizers"][-1])
            except ticore.TicoreError as error:
                found["tokenizers"].pop()
                found["skipped"][place.name] = str(error)
            _store(found, given.json)
        found["complete"] = True
    except KeyboardInterrupt:
        _aside.print("interrupted; this is what was found until then")
    _store(found, given.json)
    _show(times_tables(found))
    _say_skipped(found["skipped"])
    if given.plot is not None:
        _draw(found, given.plot)
    return _status(found, found["tokenizers"])


def _soak(given: argparse.Namespace) -> int:
    chosen = list(texts(given.texts, given.data).values())
    about = _about({"seed": given.seed, "checks": given.soak})
    modes: Sequence[Mode] = given.mode or _MODES
    here = places(given.tokenizer, given.data, crossed=True)
    share = -(-given.soak // (len(here) * len(modes)))
    kept = Cases(given.out)
    rows: list[Found] = []
    skipped: dict[str, str] = {}
    columns = ("{task.description}", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns, console=_aside, transient=True)
    try:
        with progress:
            task = progress.add_task("", total=share * len(here) * len(modes))
            for place in here:
                try:
                    tokenizer = place.open()
                except ticore.TicoreError as error:
                    skipped[place.name] = str(error)
                    continue
                for mode in modes:
                    name = f"{place.name} {mode}"
                    progress.update(task, description=name)
                    try:
                        soak = Soak(Verifier(tokenizer, mode, rung="mask"), chosen)
                    except ticore.TicoreError as error:
                        skipped[name] = str(error)
                        continue
                    kind = {"seed": given.seed, "code": about["code"], "mode": mode}
                    kind |= {"tokenizer": place.name, "place": place.where}
                    for row in kept.play(soak, kind, share):
                        rows.append(row)
                        progress.advance(task, row["checks"])
                        for example in row["examples"]:
                            _screen.print(mismatch_text(row, example), markup=False)
        about["complete"] = True
    except KeyboardInterrupt:
        _aside.print("interrupted; the same command goes on from here")
    _store(about | {"cases": rows, "skipped": skipped}, given.json)
    _show(soak_tables(rows))
    _say_skipped(skipped)
    return 1 if any(row["mismatches"] for row in rows) else _status(about, rows)


def _time_runs(given: argparse.Namespace) -> int:
    _use_one_core()
    lengths = given.runs or list(LENGTHS)
    modes: Sequence[Mode] = given.mode or ("prefix",)

    def rows(place: Place) -> Iterator[Found]:
        tokenizer = place.open()
        for mode in modes:
            timed = push_in_runs(tokenizer, mode, lengths)
            yield from _track(timed, f"{place.name} {mode}", len(runs(1)))

    found = _about({"lengths": lengths})
    _ask_each_place(given, found, "runs", rows)
    return _finish(given, found, "runs", runs_table(found["runs"], lengths))


def _count_rejections(given: argparse.Namespace) -> int:
    chosen = texts(given.texts, given.data, FOR_REJECTIONS)
    modes: Sequence[Mode] = given.mode or _MODES

    def rows(place: Place) -> Iterator[Found]:
        counts = rejections(place.open(), modes, chosen, given.places, given.seed)
        yield from _track(counts, place.name, len(modes) * len(chosen))

    found = _about({"modes": modes, "places": given.places, "seed": given.seed})
    _ask_each_place(given, found, "rejections", rows)
    return _finish(given, found, "rejections", rejections_table(found["rejections"]))


def _ask_each_place(
    given: argparse.Namespace, found: Found, name: str, rows: Callable[[Place], Iterable[Found]]
) -> None:
    """Put the rows of each tokenizer into `found`, and why some have none, until interrupted."""
    found |= {name: [], "skipped": {}}
    try:
        for place in places(given.tokenizer, given.data):
            try:
                for row in rows(place):
                    found[name].append({"tokenizer": place.name} | row)
            except ticore.TicoreError as error:
                found["skipped"][place.name] = str(error)
        found["complete"] = True
    except KeyboardInterrupt:
        _aside.print("interrupted; this is what was found until then")


def _finish(given: argparse.Namespace, found: Found, name: str, table: Table) -> int:
    """Store and show what was found; the exit status."""
    _store(found, given.json)
    _show([table])
    _say_skipped(found["skipped"])
    return _status(found, found[name])


def _status(about: Found, rows: Sequence[Found]) -> int:
    """The exit status where nothing was found to be wrong."""
    if not about["complete"]:
        return 130
    return 0 if rows else 1


def _track(items: Iterable[T], description: str, total: int) -> Iterable[T]:
    quiet = not _aside.is_terminal
    return track(items, description, total, console=_aside, transient=True, disable=quiet)


def _about(settings: Found) -> Found:
    """What the numbers depend on beside the code."""
    return about(_PACKAGES) | {"complete": False, "code": _code_digest(), "settings": settings}


def _code_digest() -> str:
    """Changes with the code that verifies or checks: what was checked before counts no more."""
    digest = hashlib.sha256()
    for module in (consistency.__file__, __file__):
        for file in sorted(Path(module).parent.rglob("*.py")):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _use_one_core() -> None:
    """Libraries that start threads nonetheless do not gain from it."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _store(found: Found, file: Path | None) -> None:
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(found, ensure_ascii=False, indent=1).encode())


def _draw(found: Found, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        plot(found, file)
    except ticore.TicoreError as error:
        _aside.print(str(error), markup=False)


def _show(tables: Iterable[Table]) -> None:
    for table in tables:
        if table.row_count:
            _screen.print(table)


def _say_skipped(skipped: dict[str, str]) -> None:
    for name, why in skipped.items():
        _screen.print(f"{name} was skipped: {why}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
