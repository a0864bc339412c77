"""The command line: take the samples that are missing, compare all of them."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from rich.table import Table

import ticore
from benchmarks._harness.cli import add_store_options, command, exit_status, positive_int
from benchmarks._harness.code_digest import code_digest
from benchmarks._harness.collect import collect_samples
from benchmarks._harness.prompts import load_prompts
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.sample_store import SampleStore, digest_of
from benchmarks._harness.tables import text_table, without_repeats
from benchmarks._harness.types import JsonObject, Sample, Task
from ticore._support.atomic_files import write_atomically
from ticore.interfaces import Tokenizer

from . import __doc__ as usage
from .conversations import KINDS
from .samples import GROUP, PROMPTS, Plan, make_worker, settings_of

_READ = {"text": "the text of the ids", "template": "what the template writes"}


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_status(_run, _parse(arguments))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    plan = Plan()
    parser = command("rollouts", usage)
    parser.add_argument("--model", default=plan.model, metavar="PLACE", help="a chat model")
    parser.add_argument("--dtype", help="of a model of torch")
    parser.add_argument("--rollouts", type=positive_int, default=1000, help="at least, of all")
    parser.add_argument("--tokens", type=positive_int, default=plan.tokens, help="of a reply")
    parser.add_argument("--seed", type=int, default=plan.seed)
    parser.add_argument("--data", type=Path, metavar="DIR", help="a folder that holds prompts/")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write them as JSON lines")
    add_store_options(parser, "rollouts", processes=1)
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    plan = Plan(options.model, options.dtype, options.tokens, options.seed)
    prompts, model = load_prompts(options.data, "en"), plan.open_model()
    code = code_digest(make_worker, model, model.tokenizer)
    samples, complete = collect_samples(
        SampleStore(options.out),
        digest_of(settings_of(plan), prompts, model.digest(), code),
        _tasks(options.rollouts),
        ("kind", "number"),
        partial(make_worker, plan, prompts),
        options.processes,
    )
    rows = summarize(samples, model.tokenizer)
    if options.write:
        lines = (
            {"kind": sample["kind"], **one} for sample in samples for one in sample["rollouts"]
        )
        write_atomically(options.write, "".join(json.dumps(line) + "\n" for line in lines).encode())
    report = new_report(settings_of(plan), complete=complete, code=code) | {"rollouts": rows}
    return publish(options, report, rows, [_table(rows)])


def _tasks(rollouts: int) -> list[Task]:
    """The samples of that many rollouts or a few more, all kinds of a number before the next."""
    count = -(-rollouts // (GROUP * PROMPTS))
    return [(list(KINDS)[n % len(KINDS)], n // len(KINDS)) for n in range(count)]


def summarize(samples: Sequence[Sample], tokenizer: Tokenizer) -> list[JsonObject]:
    """One row for each kind and way of reading, with all causes and how often each came first."""
    return [
        {"kind": kind, "read": read} | _drift(list(_of_kind(samples, kind)), read, tokenizer)
        for kind in KINDS
        for read in _READ
        if any(sample["kind"] == kind for sample in samples)
    ]


def _of_kind(samples: Sequence[Sample], kind: str) -> Iterator[JsonObject]:
    for sample in samples:
        if sample["kind"] == kind:
            yield from sample["rollouts"]


def _drift(rollouts: Sequence[JsonObject], read: str, tokenizer: Tokenizer) -> JsonObject:
    causes, tokens, others = Counter[str](), 0, 0
    for one in rollouts:
        found = (
            ticore.compare(tokenizer, one["ids"], specials="gaps")
            if read == "text"
            else ticore.compare(tokenizer, one["ids"], reread=one["template"], specials="text")
        )
        tokens += len(one["ids"])
        others += len(found.sits) + len(found.cits)
        if found.cause is not None:
            causes[found.cause] += 1
    return {
        "rollouts": len(rollouts),
        "tokens": tokens,
        "drifted": causes.total(),
        "drifted_tokens": others,
        "causes": dict(causes.most_common()),
    }


def _table(rows: Sequence[JsonObject]) -> Table:
    table = text_table(
        "Rollouts whose ids change when they are read again",
        ["kind", "what is read"],
        ["rollouts", "changed", "first causes"],
    )
    above = ""
    for row in rows:
        causes = ", ".join(f"{cause} {count:,}" for cause, count in row["causes"].items())
        table.add_row(
            without_repeats(row["kind"], above),
            _READ[row["read"]],
            f"{row['rollouts']:,}",
            f"{row['drifted'] / row['rollouts']:.1%}",
            causes,
        )
        above = row["kind"]
    return table


if __name__ == "__main__":
    sys.exit(main())
