"""Times as tables."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from benchmarks._harness.number_format import duration, ratio
from benchmarks._harness.tables import text_table
from benchmarks._harness.timing import TimingSummary
from benchmarks._harness.types import JsonObject

from .retokenizing import PAPER, RETOKENIZE, SUFFIX

_MEGABYTE = 1 << 20
_PAPER = "the paper's method"
_METHODS = {SUFFIX: "suffix", RETOKENIZE: "retokenize", PAPER: _PAPER}
_MASK_WORK = {
    "mask_cached": "cached elsewhere in the text",
    "mask_new_token": "new last token, tail known",
    "mask_new_tail": "new tail",
    "mask_retokenized": "no table: retokenized",
}


def times_tables(report: JsonObject) -> Iterator[Table]:
    """The tables of a report, in the order in which to read them."""
    yield _loading(report)
    yield _masks(report)
    yield _first_masks(report)
    yield _other_calls(report)
    yield _in_full(report)


def _modes(report: JsonObject) -> Iterator[tuple[str, JsonObject, JsonObject]]:
    for tokenizer in report["tokenizers"]:
        for mode, in_mode in tokenizer.get("modes", {}).items():
            yield f"{tokenizer['name']} {mode}", tokenizer, in_mode


def _lengths(report: JsonObject) -> Iterator[tuple[str, str, JsonObject]]:
    """Name, tokens of history, and times. Only the first row of a tokenizer and mode has a name."""
    for name, _, in_mode in _modes(report):
        for n, (length, here) in enumerate(in_mode["lengths"].items()):
            yield name if n == 0 else "", length, here


def _loading(report: JsonObject) -> Table:
    table = text_table(
        "Making a Verifier: median (95 %); memory by tracemalloc",
        ["tokenizer"],
        [
            *("ids", "tables built", "of it self-test", "tables from disk", "of it self-test"),
            *("memory, loaded", "after use", "list of tokens"),
        ],
    )
    for name, tokenizer, in_mode in _modes(report):
        cells = [name, f"{tokenizer['vocab_size']:,}"]
        if in_mode.get("why_no_table"):
            table.add_row(*cells, in_mode["why_no_table"])
            continue
        for how in ("built", "from_disk"):
            times = in_mode.get("load", {}).get(how, {})
            cells += [_cell(times.get(part)) for part in ("whole", "self_test")]
        memory = in_mode.get("memory", {})
        cells += [
            f"{memory[part] / _MEGABYTE:.1f} MB" if part in memory else ""
            for part in ("loaded", "used", "list")
        ]
        table.add_row(*cells)
    return table


def _masks(report: JsonObject) -> Table:
    methods = dict(_METHODS)
    if all(RETOKENIZE not in here for _, _, here in _lengths(report)):
        del methods[RETOKENIZE]  # in mode `prefix` it is the paper's method
    table = text_table(
        "A mask of the whole vocabulary: median (95 %); ~ scaled from a sample of ids",
        ["tokenizer"],
        [
            *("history", "asked again", "asked first", "of these not cached", *methods.values()),
            *("paper / again", "paper / not cached"),
        ],
    )
    for name, length, here in _lengths(report):
        again, uncached = (_table(here, call) for call in ("mask_repeated", "mask_uncached"))
        cells = [_cell(one) for one in (again, _table(here, "mask_first"), uncached)]
        cells += [_scaled(here, method) for method in methods]
        paper = here.get(PAPER, {}).get("mask")
        for one in (again, uncached):
            cells.append(ratio(paper["median"] / one["median"]) if paper and one else "")
        table.add_row(name, length, *cells)
    return table


def _first_masks(report: JsonObject) -> Table:
    table = text_table(
        "A mask that is asked for first, by what is computed: median (95 %) × how often",
        ["tokenizer"],
        ["history", *_MASK_WORK.values()],
    )
    for name, length, here in _lengths(report):
        times = [_table(here, work) for work in _MASK_WORK]
        cells = [f"{_cell(one)} × {one['count']:.0f}" if one else "" for one in times]
        table.add_row(name, length, *cells)
    return table


def _other_calls(report: JsonObject) -> Table:
    admits = f"admits of {report['settings']['candidates']}"
    table = text_table(
        "`admits` of some candidates, `push` and `rewind` of one token: median (95 %)",
        ["tokenizer"],
        [
            *("history", f"{admits}, again", f"{admits}, first", "suffix", _PAPER),
            *("push after mask", "push, reading", "rewind"),
        ],
    )
    for name, length, here in _lengths(report):
        table.add_row(
            name,
            length,
            *(_cell(_table(here, call)) for call in ("admits_repeated", "admits_first")),
            *(_cell(here.get(method, {}).get("admits")) for method in (SUFFIX, PAPER)),
            *(_cell(_table(here, c)) for c in ("push_after_mask", "push_reading", "rewind")),
        )
    return table


def _in_full(report: JsonObject) -> Table:
    table = text_table(
        "Masks of the whole vocabulary that were measured in full, and scaled from a sample",
        ["tokenizer", "method", "text"],
        ["history", "in full", "scaled"],
    )
    for name, _, in_mode in _modes(report):
        for here in in_mode["lengths"].values():
            for method, heading in _METHODS.items():
                times = here.get(method, {})
                scaled = {one["text"]: one["seconds"] for one in times.get("masks", [])}
                for one in times.get("full", ()):
                    cells = [duration(one["seconds"]), "~" + duration(scaled[one["text"]])]
                    table.add_row(name, heading, one["text"], str(one["token_count"]), *cells)
    return table


def _table(here: JsonObject, call: str) -> TimingSummary | None:
    """What the table engine takes for a call, over all texts."""
    found: TimingSummary | None = here.get("table", {}).get(call, {}).get("all")
    return found


def _scaled(here: JsonObject, method: str) -> str:
    times = here.get(method, {})
    return ("~" if times.get("scaled") else "") + _cell(times["mask"]) if "mask" in times else ""


def _cell(times: TimingSummary | None) -> str:
    """Median and 95 % quantile; the unit is written once where both have the same."""
    if not times:
        return ""
    median, p95 = duration(times["median"]), duration(times["p95"])
    number, _, unit = p95.partition(" ")
    return f"{median} ({number if median.endswith(' ' + unit) else p95})"
