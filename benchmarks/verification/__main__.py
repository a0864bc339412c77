"""The command line: reads the options and runs one of eight measurements."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks._harness.cli import add_alias, command, exit_status, positive_int

from . import __doc__ as usage
from . import batches, long_runs, prefixes, rejections, seams, soak, survey, times
from .modes import MODES
from .plan import Plan


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _run(options: argparse.Namespace) -> int:
    if options.out is None:
        name = "survey" if options.survey else "soak"
        options.out = Path(f"results/verification_{name}.jsonl")
    if options.from_json is not None:
        return times.show(options)
    asked = {
        survey.run: options.survey or None,
        soak.run: options.soak,
        seams.run: options.seams,
        prefixes.run: options.turns,
        long_runs.run: options.runs,
        batches.run: options.batches,
        rejections.run: options.rejections or None,
    }
    run = next((run for run, value in asked.items() if value is not None), times.run)
    return run(options)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = command("verification", usage, plot=True)
    _add_subjects(parser.add_argument_group("what to measure on"))

    plan = Plan()
    timing = parser.add_argument_group("times")
    timing.add_argument(
        "--lengths", type=positive_int, nargs="+", default=plan.lengths, help="tokens of history"
    )
    for name, kind, text in (
        ("passages", positive_int, "passages of each text at each length"),
        ("steps", positive_int, "tokens pushed after each history"),
        ("sample", positive_int, "ids that slow methods are asked about"),
        ("patience", float, "seconds that one such sample may take"),
        ("loads", positive_int, "times that tables are built and loaded"),
    ):
        timing.add_argument(f"--{name}", type=kind, default=getattr(plan, name), help=text)
    timing.add_argument(
        "--full", action="store_true", help="ask slow methods about all ids; this takes hours"
    )
    timing.add_argument(
        "--from-json", type=Path, metavar="FILE", help="measure nothing, show the report in FILE"
    )

    runs = parser.add_argument_group("pushes in long runs")
    runs.add_argument(
        "--runs",
        type=positive_int,
        nargs="*",
        metavar="N",
        help="time pushes in runs of N characters without a boundary",
    )

    parser.add_argument_group("growing texts").add_argument(
        "--turns",
        type=positive_int,
        metavar="N",
        help="time PrefixTokenizer on a conversation of N turns; beside encoding all of it",
    )

    parser.add_argument_group("batches").add_argument(
        "--batches",
        type=positive_int,
        nargs="*",
        metavar="N",
        help="time the masks of N texts at once; beside xgrammar and llguidance if installed",
    )

    correctness = parser.add_argument_group("correctness")
    correctness.add_argument(
        "--soak", type=positive_int, metavar="N", help="compare N answers with the definition"
    )
    correctness.add_argument(
        "--seams",
        type=positive_int,
        metavar="N",
        help="compare N answers of ticore.seam with the encoding of the whole",
    )
    correctness.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the store of cases or rows, from which a later run continues",
    )

    surveyed = parser.add_argument_group("survey")
    surveyed.add_argument(
        "--survey", action="store_true", help="a row for each tokenizer, in a process of its own"
    )
    surveyed.add_argument(
        "--folder",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="measure the tokenizers in DIR/NAME; may be repeated",
    )
    surveyed.add_argument(
        "--checks", type=int, default=20_000, help="answers compared, for each tokenizer"
    )
    surveyed.add_argument(
        "--limit", type=float, default=600.0, help="seconds that each of a row's stages may take"
    )

    rejected = parser.add_argument_group("rejections")
    rejected.add_argument(
        "--rejections", action="store_true", help="count the tokens of real text that modes reject"
    )
    rejected.add_argument(
        "--tokens", type=positive_int, default=3000, help="tokens of each text for --rejections"
    )
    add_alias(parser, "--places", "tokens", type=positive_int)
    return parser.parse_args(arguments)


def _add_subjects(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--data", type=Path, metavar="DIR", help="holds tokenizers/ and corpora/")
    group.add_argument(
        "--tokenizer",
        action="append",
        default=[],
        metavar="PLACE",
        help="BACKEND:LOCATION, or the name of a tokenizer in DIR; may be repeated",
    )
    group.add_argument("--texts", type=Path, nargs="+", default=[], metavar="FILE")
    group.add_argument(
        "--mode",
        action="append",
        choices=MODES,
        help="may be repeated; default: prefix for times, else all modes",
    )
    group.add_argument("--seed", type=int, default=0)


if __name__ == "__main__":
    sys.exit(main())
