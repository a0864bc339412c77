"""Command lines: the options that benchmarks share, and how a program ends."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ticore

from .progress import messages


def command(name: str, usage: str | None, *, plot: bool = False) -> argparse.ArgumentParser:
    """A command line with the options that say where results go.

    Args:
        name: the module that is run, without `benchmarks.`.
        usage: the text of `--help`, shown as it is.
        plot: whether the benchmark draws a plot.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}",
        description=usage,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    outputs = parser.add_argument_group("results")
    outputs.add_argument("--json", type=Path, metavar="FILE", help="write the report to FILE")
    outputs.add_argument(
        "--parquet", type=Path, metavar="FILE", help="write one row per measurement to FILE"
    )
    outputs.add_argument(
        "--markdown", type=Path, metavar="FILE", help="write the tables to FILE as well"
    )
    if plot:
        outputs.add_argument(
            "--plot", type=Path, metavar="FILE", help="draw the plot: .png or .svg"
        )
    return parser


def sampling_command(
    name: str, usage: str | None, sample_count: int, *, plot: bool = False
) -> argparse.ArgumentParser:
    """A command line with the options of benchmarks that take samples from a model.

    Args:
        name: see `command`.
        usage: see `command`.
        sample_count: the default number of samples of each kind.
        plot: see `command`.
    """
    parser = command(name, usage, plot=plot)
    parser.add_argument(
        "--samples", type=positive_int, default=sample_count, help="number of samples of each kind"
    )
    parser.add_argument("--model", default="tiny-en", metavar="PLACE", help="the model to open")
    add_prompt_options(parser)
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    add_store_options(parser, name)
    return parser


def add_prompt_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose prompts (see `prompts.chosen_prompts`)."""
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder that holds prompts/")
    parser.add_argument(
        "--language", help="language of the prompts: en, ja or zh; default: that of the model"
    )


def add_store_options(parser: argparse.ArgumentParser, name: str, processes: int = 2) -> None:
    """Add the options of a benchmark whose samples are stored."""
    parser.add_argument(
        "--processes", type=positive_int, default=processes, help="number of processes"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(f"results/{name}.jsonl"),
        metavar="FILE",
        help="the sample store, from which a later run continues",
    )


def add_alias(parser: argparse.ArgumentParser, old: str, dest: str, **settings: Any) -> None:
    """Accept the earlier name of an option as well, without showing it in `--help`.

    Args:
        parser: which has the option under its new name already.
        old: the earlier name, such as `--count`.
        dest: where the new option stores its value, such as `samples`.
        settings: `type`, `nargs` and the like, as for the new option.
    """
    hidden = argparse.SUPPRESS
    parser.add_argument(old, dest=dest, default=hidden, help=hidden, **settings)


def positive_int(text: str) -> int:
    """The type of an option that takes a whole number of at least 1."""
    if not (text.isascii() and text.isdigit() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return int(text)


def share(text: str) -> float:
    """The type of an option that takes a share, from 0 to 1."""
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, found {text!r}")
    return found


def exit_status(run: Callable[[argparse.Namespace], int], options: argparse.Namespace) -> int:
    """Run a benchmark.

    Returns:
        What `run` returns, or 1 where it raises a TicoreError, whose text is printed.
    """
    try:
        return run(options)
    except ticore.TicoreError as error:
        messages.print(str(error), markup=False)
        return 1
