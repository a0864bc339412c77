"""The command line: writes the samples that are missing, measures, shows and stores figures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.about import about
from benchmarks.kept import Kept, code_digest, digest_of
from benchmarks.prompts import prompts
from benchmarks.running import attempt, options, positive, report, write_missing

from . import __doc__ as usage
from .batches import measure
from .figures import exchange, robustness
from .noise import noise
from .plan import NAMES, Plan
from .plot import plot
from .samples import open_samples
from .speed import generating, overhead, parallel
from .tables import tables

PARTS = ("noise", "robustness", "exchange", "speed")
_PACKAGES = ("ticore", "numpy", "torch", "transformers", "jax", "flax")
_CODE = ("steganography", "codecs", "disambiguation", "consistency", "candidates", "draws.py")
_FILES = [Path(__file__).with_name(name) for name in ("samples.py", "noisy.py", "plan.py")]


def main(arguments: Sequence[str] | None = None) -> int:
    return attempt(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = options("backends", usage, samples=100)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, metavar="NAME")
    parser.add_argument("--places", nargs="+", default=plan.places, metavar="PLACE")
    parser.add_argument("--codecs", nargs="+", default=plan.codecs, metavar="NAME")
    parser.add_argument("--exchanged", type=positive, default=200, help="messages by each backend")
    parser.add_argument("--tokens", type=positive, default=200, help="of each text")
    parser.add_argument("--texts", type=positive, default=10, help="that are read for the time")
    parser.add_argument("--top-k", type=positive, nargs="+", default=(64, 4096), metavar="K")
    parser.add_argument("--dtype", default="float32", help="of the models whose time is taken")
    parser.add_argument("--rows", type=positive, default=32, help="of a batch")
    return parser.parse_args(arguments)


def _run(given: argparse.Namespace) -> int:
    begin = prompts(given.data, given.language)
    plan = Plan(places=tuple(given.places), codecs=tuple(given.codecs), seed=given.seed)
    tasks = [
        *(plan.robustness(given.samples) if "robustness" in given.parts else ()),
        *(plan.exchange(given.exchanged) if "exchange" in given.parts else ()),
    ]
    code = code_digest(_CODE, *_FILES)
    rows, complete = write_missing(
        Kept(given.out, digest_of(plan.shared(), begin, code)),
        tasks,
        NAMES,
        partial(open_samples, plan, begin),
        given.processes,
    )
    found = about(_PACKAGES) | {
        "complete": complete,
        "code": code,
        "settings": asdict(plan) | {"samples": given.samples},
        "robustness": robustness(rows, plan.noises),
        "exchange": exchange(rows, plan.places),
        "noise": noise(plan.places, " ".join(begin), given.tokens)
        if "noise" in given.parts
        else [],
        "speed": _speed(given, plan, begin[0]) if "speed" in given.parts else _NO_SPEED,
    }
    return report(found, tables(found), plot, given)


_NO_SPEED: dict[str, list[Any]] = {
    "generating": [],
    "overhead": [],
    "parallel": [],
    "batches": [],
}


def _speed(given: argparse.Namespace, plan: Plan, prompt: str) -> dict[str, list[Any]]:
    torch = [place for place in plan.places if place.startswith("torch:")]
    return {
        "generating": [
            generating(place, dtype, prompt, given.tokens)
            for place in torch
            for dtype in dict.fromkeys((given.dtype, "float64"))
        ],
        "overhead": [
            overhead(place, given.dtype, prompt, given.tokens, top_k)
            for place in plan.places
            for top_k in given.top_k
        ],
        "parallel": [parallel(place, prompt, given.texts) for place in plan.places],
        "batches": [
            asdict(one) for one in measure(plan.places, rows=given.rows, dtype=given.dtype)
        ],
    }


if __name__ == "__main__":
    sys.exit(main())
