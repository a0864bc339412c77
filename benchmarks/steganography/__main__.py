"""The command line: writes the samples that are missing, shows and stores the figures of all."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import ticore
from benchmarks.about import about
from benchmarks.kept import Kept, code_digest, digest_of
from benchmarks.prompts import prompts
from benchmarks.running import attempt, options, positive, report, write_missing

from . import __doc__ as usage
from .figures import figures
from .plan import NAIVE, Plan
from .plot import plot
from .samples import open_samples
from .tables import tables

_PACKAGES = ("ticore", "numpy", "scipy")
_CODE = (
    "steganography",
    "codecs",
    "disambiguation",
    "consistency",
    "evaluation",
    "candidates",
    "draws.py",
    "interfaces.py",
)
_FILES = [Path(__file__).with_name(name) for name in ("samples.py", "plan.py")]


def main(arguments: Sequence[str] | None = None) -> int:
    return attempt(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = options("steganography", usage, samples=100)
    parser.add_argument("--bits", type=positive, default=plan.bits, help="of each message")
    parser.add_argument("--top-k", type=positive, nargs="+", default=plan.top_k, metavar="K")
    parser.add_argument("--codecs", nargs="+", default=plan.codecs, metavar="NAME")
    parser.add_argument(
        "--disambiguations", nargs="+", default=plan.disambiguations, metavar="NAME"
    )
    parser.add_argument(
        "--naive", action="store_true", help=f"also write with disambiguation {NAIVE}; slow"
    )
    return parser.parse_args(arguments)


def _run(given: argparse.Namespace) -> int:
    begin = prompts(given.data, given.language)
    model, code = ticore.load_model(given.place), code_digest(_CODE, *_FILES)
    size = model.tokenizer.vocab_size
    plan = Plan(
        place=given.place,
        bits=given.bits,
        temperature=given.temperature,
        top_k=tuple(sorted({min(k, size) for k in given.top_k})),
        codecs=tuple(given.codecs),
        disambiguations=(*given.disambiguations, *([NAIVE] if given.naive else [])),
        seed=given.seed,
    )
    rows, complete = write_missing(
        Kept(given.out, digest_of(plan.shared(), model.digest(), begin, code)),
        plan.tasks(given.samples),
        ("codec", "disambiguation", "top_k", "index"),
        partial(open_samples, plan, begin),
        given.processes,
    )
    found = about(_PACKAGES) | {
        "complete": complete,
        "code": code,
        "settings": asdict(plan) | {"samples": given.samples},
    }
    found |= figures(rows, plan.methods, plan.top_k)
    return report(found, tables(found), plot, given)


if __name__ == "__main__":
    sys.exit(main())
