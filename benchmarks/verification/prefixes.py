"""A conversation that grows turn by turn: `PrefixTokenizer` beside encoding all of it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

from rich.table import Table

import ticore
from benchmarks._harness.corpora import load_corpora
from benchmarks._harness.environment import one_core
from benchmarks._harness.number_format import duration, ratio
from benchmarks._harness.report import new_report
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject
from ticore.interfaces import Tokenizer

from .per_tokenizer import finish, measure_each
from .tokenizer_sources import TokenizerSource

_TOKENS_PER_TURN = 540  # with 128 turns about 69,000 tokens
_LOOKED_AT = 20_000  # characters, to estimate how long a turn must be


def run(options: argparse.Namespace) -> int:
    """Time a conversation with all tokenizers."""
    text = "\n".join(load_corpora(options.texts, options.data).values())

    def measure(source: TokenizerSource) -> Iterator[JsonObject]:
        tokenizer = source.open()
        turns = conversation(tokenizer, text, options.turns)
        yield {"tokenizer": source.name} | time_turns(tokenizer, turns)

    report = new_report({"turns": options.turns}, complete=False)
    with one_core():
        rows = measure_each(options, report, "prefixes", measure)
    return finish(options, report, rows, [prefixes_table(rows)])


def conversation(tokenizer: Tokenizer, text: str, count: int) -> list[str]:
    """Turns of about as many tokens each, in the form of ChatML."""
    some = text[:_LOOKED_AT]
    length = round(_TOKENS_PER_TURN * len(some) / len(tokenizer.encode(some)))
    longer = text * -(-length * count // len(text))
    parts = (longer[n * length : (n + 1) * length] for n in range(count))
    return [
        f"<|im_start|>{('user', 'assistant')[n % 2]}\n{part}<|im_end|>\n"
        for n, part in enumerate(parts)
    ]


def time_turns(tokenizer: Tokenizer, turns: Sequence[str]) -> JsonObject:
    """The seconds of CPU time of both ways, taken in turn; the ids are compared each time."""
    prefix, whole = ticore.PrefixTokenizer(tokenizer), ""
    ours = theirs = 0.0
    for turn in turns:
        begin = time.process_time()
        prefix.append(turn)
        middle = time.process_time()
        whole += turn
        ids = tokenizer.encode(whole)
        ours, theirs = ours + middle - begin, theirs + time.process_time() - middle
        if list(prefix.ids) != ids:
            raise ticore.TicoreError(
                "expected the ids of the whole, found others: please report it"
            )
    return {"tokens": len(prefix), "prefix": ours, "whole": theirs, "why": prefix.why}


def prefixes_table(rows: Sequence[JsonObject]) -> Table:
    """A row for each tokenizer."""
    table = text_table(
        "A conversation that grows, tokenized after each turn",
        ["tokenizer"],
        ["tokens", "PrefixTokenizer", "all of it", "ratio"],
    )
    for row in rows:
        times = duration(row["prefix"]), duration(row["whole"]), ratio(row["whole"] / row["prefix"])
        table.add_row(row["tokenizer"], f"{row['tokens']:,}", *times)
    return table
