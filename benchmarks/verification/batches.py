"""What a step of a server takes: the masks of many texts as packed bits, in one call."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks._harness.corpora import Corpora, load_corpora, passage
from benchmarks._harness.environment import one_core
from benchmarks._harness.number_format import duration
from benchmarks._harness.progress import track
from benchmarks._harness.report import new_report, nothing_to_draw
from benchmarks._harness.style import LINE_STYLES, clear_frame, new_figure, save_figure
from benchmarks._harness.tables import text_table, without_repeats
from benchmarks._harness.types import JsonObject
from ticore.consistency import Mode, Verification, packed_masks
from ticore.consistency._engines.base import Engine
from ticore.consistency._engines.build import table_engine
from ticore.consistency._engines.retokenizing import Oracle
from ticore.consistency._unsupported import Unsupported
from ticore.errors import SettingsError
from ticore.interfaces import Tokenizer

from .grammar_engines import time_grammar_engines
from .modes import modes_to_time
from .per_tokenizer import finish, measure_each
from .plan import CHARACTERS_PER_TOKEN
from .tokenizer_sources import TokenizerSource

SIZES = (1, 4, 16, 64, 256, 1024)
"""Texts in a batch."""

_HISTORY = 20  # tokens before the first step; what stands further back does not matter
_KINDS = {
    "first": "step 1, nothing cached",
    "warm": "later steps",
    "new": "new texts",
    "again": "the same masks again",
    "push": "push one token each",
}


def run(options: argparse.Namespace) -> int:
    """Time batches with all tokenizers, and grammar engines beside them."""
    sizes = options.batches or list(SIZES)
    modes = modes_to_time(options.mode)
    corpora = load_corpora(options.texts, options.data)

    def measure(source: TokenizerSource) -> Iterator[JsonObject]:
        tokenizer = source.open()
        for mode in modes:
            for size in track(sizes, f"{source.name} {mode}", len(sizes)):
                seconds = time_batch(tokenizer, mode, corpora, size, options.steps, options.seed)
                yield _row(source.name, f"ticore, {mode}", size, seconds)
        for name, found in time_grammar_engines(tokenizer, sizes, options.steps, options.seed):
            if "skipped" in found:
                report["skipped"][name] = found["skipped"]
            for size, seconds_again in found.get("again", {}).items():
                yield _row(source.name, f"{name}, JSON", int(size), {"again": seconds_again})

    settings = {"sizes": sizes, "modes": modes, "steps": options.steps, "texts": list(corpora)}
    report = new_report(settings, complete=False)
    with one_core():
        rows = measure_each(options, report, "batches", measure)
    return finish(options, report, rows, [batches_table(rows)], plot)


def _row(tokenizer: str, engine: str, size: int, seconds: JsonObject) -> JsonObject:
    return {"tokenizer": tokenizer, "engine": engine, "texts": size, "seconds": seconds}


def time_batch(
    tokenizer: Tokenizer, mode: Mode, corpora: Corpora, size: int, steps: int, seed: int
) -> JsonObject:
    """CPU seconds of a step with `size` texts, of each corpus in turn.

    Texts that no text may begin with are rows without constraint. The engine starts with empty
    caches.

    Returns:
        `first`: the masks of the first step. `warm`: those of the second half of the steps, the
        median. `new`: those of all steps of as many other texts, with the same engine. `again`:
        the same, asked for once more. `push`: appending a token to each of these texts.

    Raises:
        SettingsError: there are no tables for the tokenizer and the mode.
    """
    oracle = Oracle(tokenizer, mode)
    try:
        engine = table_engine(oracle)
    except Unsupported as why:
        raise SettingsError(f"there are no tables for this tokenizer: {why}") from why
    draw, batches = random.Random(seed), list[list[list[int]]]()
    for _ in range(2):
        batches.append([])
        for text in islice(cycle(corpora.values()), size):
            ids = list[int]()
            while len(ids) < _HISTORY + steps:
                some = passage(text, CHARACTERS_PER_TOKEN * (_HISTORY + steps), draw)
                ids += [i for i in tokenizer.encode(some) if i not in tokenizer.special_ids]
            batches[-1].append(ids)
    first, second = (_serve(engine, oracle, passages, steps) for passages in batches)
    return {
        "first": first["masks"][0],
        "warm": median(first["masks"][steps // 2 :]),
        "new": median(second["masks"]),
        "again": median(second["again"]),
        "push": median(second["push"]),
    }


def _serve(
    engine: Engine[Any], oracle: Oracle, passages: Sequence[Sequence[int]], steps: int
) -> dict[str, list[float]]:
    """CPU seconds of each step: `masks`, the same `again`, and `push`."""
    texts = [Verification(engine, oracle, None, ids[:_HISTORY]) for ids in passages]
    # As engines do, the buffer has more words than the vocabulary takes.
    words = -(-oracle.tokenizer.vocab_size // 128) * 4 + 4
    buffer = np.zeros((len(texts), words), dtype=np.uint32)
    seconds: dict[str, list[float]] = {"masks": [], "again": [], "push": []}
    for step in range(steps):
        rows = [text if text.admissible else None for text in texts]
        for name in ("masks", "again"):
            started = time.process_time()
            packed_masks(rows, buffer)
            seconds[name].append(time.process_time() - started)
        started = time.process_time()
        for verification, ids in zip(texts, passages, strict=True):
            verification.push(ids[_HISTORY + step])
        seconds["push"].append(time.process_time() - started)
    return seconds


def batches_table(rows: Sequence[JsonObject]) -> Table:
    """The time of a step, with a row per batch size."""
    table = text_table(
        "A step of a batch, one core, CPU time",
        ["tokenizer", "engine"],
        ["texts", *_KINDS.values()],
    )
    above = ("", "")
    for row in rows:
        names = row["tokenizer"], row["engine"]
        cells = [
            duration(row["seconds"][kind]) if kind in row["seconds"] else "" for kind in _KINDS
        ]
        left = ("", "") if names == above else names
        table.add_row(without_repeats(left[0], above[0]), left[1], f"{row['texts']:,}", *cells)
        above = names
    return table


def plot(report: JsonObject, file: Path) -> None:
    """Draw the time of a step by batch size, a panel for each tokenizer.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SettingsError: nothing was measured.
    """
    rows = report["batches"]
    names = list(dict.fromkeys(row["tokenizer"] for row in rows))
    if not names:
        raise nothing_to_draw("no batch was measured")
    figure = new_figure(1.2 + 4.2 * len(names), 4.2)
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        axes.set_title(name, fontsize=10, loc="left")
        lines = _lines([row for row in rows if row["tokenizer"] == name])
        for (label, points), (colour, marker) in zip(
            lines.items(), cycle(LINE_STYLES), strict=False
        ):
            axes.plot(*zip(*points, strict=True), marker=marker, color=colour, label=label)
        _scale(axes, sorted({row["texts"] for row in rows}))
        axes.legend(frameon=False, fontsize=8)
    processor = report["machine"]["processor"]
    figure.suptitle(
        "Masks of a whole vocabulary for a batch, CPU time of a step", x=0.02, ha="left"
    )
    figure.supxlabel(f"texts in the batch, on one core of: {processor}", fontsize=10)
    save_figure(figure, file)


def _lines(rows: Sequence[JsonObject]) -> dict[str, list[tuple[int, float]]]:
    """(texts, seconds) by what is drawn."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        for kind, seconds in row["seconds"].items():
            if kind != "push":
                words = f": {_KINDS[kind]}" if row["engine"].startswith("ticore") else ""
                lines.setdefault(row["engine"] + words, []).append((row["texts"], seconds))
    return lines


def _scale(axes: Any, sizes: Sequence[int]) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415  # an extra

    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: duration(seconds)))
    clear_frame(axes)
