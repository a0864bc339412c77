"""The command line: writes the samples that are missing, shows and stores the figures of all."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path

import ticore
from benchmarks.about import about
from benchmarks.kept import Kept, code_digest, digest_of
from benchmarks.prompts import prompts
from benchmarks.running import attempt, options, positive, report, write_missing
from ticore.schemes import SCHEMES

from . import __doc__ as usage
from .figures import figures
from .plan import ATTACKS, UNMARKED, Plan
from .plot import plot
from .samples import open_samples
from .tables import tables

_PACKAGES = ("ticore", "numpy", "scipy", "torch", "jax")
_CODE = ("watermarking", "schemes", "consistency", "evaluation", "interfaces.py")
_FILES = [Path(__file__).with_name(name) for name in ("samples.py", "plan.py")]


def main(arguments: Sequence[str] | None = None) -> int:
    return attempt(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = options("watermarking", usage, samples=200)
    parser.add_argument("--tokens", type=positive, default=plan.tokens, help="of each text at most")
    parser.add_argument(
        "--schemes", nargs="+", choices=SCHEMES, default=plan.schemes, metavar="SCHEME"
    )
    parser.add_argument("--observation", type=int, default=plan.observation, metavar="TOKENS")
    parser.add_argument("--top-k", type=int, default=plan.top_k)
    parser.add_argument("--top-p", type=float, default=plan.top_p)
    parser.add_argument(
        "--passes",
        type=positive,
        default=plan.passes,
        help="read each token so often, for the time of a larger model",
    )
    parser.add_argument(
        "--attacks",
        nargs="*",
        choices=ATTACKS,
        default=(),
        metavar="ATTACK",
        help=f"all of them if none is named: {', '.join(ATTACKS)}",
    )
    given = parser.parse_args(arguments)
    if given.attacks == []:
        given.attacks = list(ATTACKS)
    return given


def _run(given: argparse.Namespace) -> int:
    settings = {field.name: getattr(given, field.name) for field in fields(Plan)}
    settings |= {name: tuple(settings[name]) for name in ("schemes", "attacks")}
    plan = Plan(**settings)
    begin = prompts(given.data, given.language)
    model, code = ticore.load_model(plan.place), code_digest(_CODE, *_FILES)
    digest = digest_of(plan.shared(), sorted(plan.schemes), model.digest(), begin, code)
    # All schemes of a sample before the next sample, so that wherever it is cut all have as many.
    wanted = [(name, index) for index in range(given.samples) for name in (UNMARKED, *plan.schemes)]
    rows, complete = write_missing(
        Kept(given.out, digest),
        wanted,
        ("scheme", "index"),
        partial(open_samples, plan, begin),
        given.processes,
    )
    found = about(_PACKAGES) | {
        "complete": complete,
        "code": code,
        "settings": plan.shared() | {"schemes": plan.schemes, "samples": given.samples},
    }
    found |= figures(rows, plan.schemes)
    return report(found, tables(found), plot, given)


if __name__ == "__main__":
    sys.exit(main())
