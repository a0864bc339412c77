"""Everything that is timed: loading, memory, masks, candidates, pushes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, fields

from benchmarks._harness.corpora import Corpora, load_corpora
from benchmarks._harness.environment import one_core
from benchmarks._harness.progress import messages
from benchmarks._harness.report import new_report, publish
from benchmarks._harness.timing import timed
from benchmarks._harness.types import JsonObject
from ticore.consistency import Mode
from ticore.consistency._engines.build import table_engine
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._unsupported import Unsupported
from ticore.errors import InputFileError
from ticore.interfaces import Tokenizer

from .loading import loading_times, memory
from .modes import modes_to_time
from .per_tokenizer import finish, measure_each
from .plan import Plan, empty_cache
from .plot import plot
from .retokenizing import time_retokenizing
from .table_speed import draw_workloads, time_table_engine
from .times_tables import times_tables
from .tokenizer_sources import TokenizerSource

_CORPORA = ("English", "Japanese", "Chinese")


def run(options: argparse.Namespace) -> int:
    """Time all tokenizers."""
    named = {field.name for field in fields(Plan)} & vars(options).keys()
    settings = {name: getattr(options, name) for name in named}
    plan = Plan(modes=modes_to_time(options.mode), **settings)
    corpora = load_corpora(options.texts, options.data, _CORPORA)

    def measure(source: TokenizerSource) -> Iterator[JsonObject]:
        messages.print(f"{source.name}: {source.place}")
        found: JsonObject = {"name": source.name}
        yield found  # now, so that an interruption leaves what was measured until then
        measure_times(source, plan, corpora, found)

    report = new_report(asdict(plan) | {"texts": list(corpora)}, complete=False)
    with one_core():
        rows = measure_each(options, report, "tokenizers", measure)
    return finish(options, report, rows, times_tables(report), plot)


def show(options: argparse.Namespace) -> int:
    """Show a report that was written before."""
    try:
        report = json.loads(options.from_json.read_text(encoding="utf-8"))
        rows = report["tokenizers"]
    except (OSError, ValueError, LookupError) as error:
        raise InputFileError(
            f"expected a report with times in {options.from_json}: {error}; name a file that "
            f"`python -m benchmarks.verification --json FILE` wrote"
        ) from error
    return publish(options, report, rows, times_tables(report), plot)


def measure_times(source: TokenizerSource, plan: Plan, corpora: Corpora, found: JsonObject) -> None:
    """Measure one tokenizer.

    Args:
        source: opens it.
        plan: how much to measure.
        corpora: what to measure on.
        found: receives the results. At every moment it holds what has been measured so far.

    Raises:
        TicoreError: the tokenizer cannot be opened.
    """
    seconds, tokenizer = timed(source.open)
    found |= {
        "name": source.name,
        "place": source.place,
        "vocab_size": tokenizer.vocab_size,
        "digest": tokenizer.digest(),
        "open": seconds,
        "modes": {},
    }
    for mode in plan.modes:
        in_mode: JsonObject = found["modes"].setdefault(mode, {"lengths": {}})
        label = f"{source.name} {mode}"
        with empty_cache():
            in_mode["why_no_table"] = why = _why_no_table(tokenizer, mode)
            if not why:
                in_mode["load"] = loading_times(source.open, mode, plan, label)
                in_mode["memory"] = memory(source.open, mode, plan, corpora)
            for length in plan.lengths:
                here: JsonObject = in_mode["lengths"].setdefault(str(length), {})
                label = f"{source.name} {mode}, {length} tokens"
                workloads = draw_workloads(tokenizer, plan, corpora, length)
                if not why:
                    here["table"] = time_table_engine(tokenizer, mode, workloads, label)
                here |= time_retokenizing(tokenizer, mode, plan, workloads, label)


def _why_no_table(tokenizer: Tokenizer, mode: Mode) -> str:
    """Why no table is exact for the tokenizer; empty where one is."""
    try:
        table_engine(Oracle(tokenizer, mode))
    except Unsupported as why:
        return str(why)
    return ""
