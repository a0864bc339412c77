"""The summary as tables."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from benchmarks._harness.number_format import duration
from benchmarks._harness.tables import text_table, without_repeats
from benchmarks._harness.types import JsonObject

from .plan import FALSE_POSITIVE_RATE, ROLLBACK, UNMARKED

_DETECTED = f"p < {FALSE_POSITIVE_RATE:.0e}".replace("e-0", "e-")


def tables(report: JsonObject) -> Iterator[Table]:
    """The tables of a report, in the order in which to read them."""
    yield _written(report)
    yield _cost(report)
    yield _unmarked(report)
    yield _attacked(report)


def _written(report: JsonObject) -> Table:
    table = text_table(
        "Texts as their receiver reads them. AUROC: told apart from texts without a watermark",
        ["scheme", "arm"],
        [
            *("texts", "tokens", "strength (sd)", "strength lost", _DETECTED, "AUROC (95 %)"),
            *("perplexity", "perplexity, read back"),
        ],
    )
    above = ""
    for entry in report["written"]:
        table.add_row(
            without_repeats(entry["scheme"], above),
            entry["arm"],
            f"{entry['text_count']:,}",
            f"{entry['token_count']:.0f}",
            _strength(entry),
            _optional(entry, "strength_lost", ".2f"),
            _optional(entry, "detected", ".1%"),
            _auroc(entry),
            _optional(entry, "perplexity", ".2f"),
            _optional(entry, "perplexity_read", ".2f"),
        )
        above = entry["scheme"]
    return table


def _cost(report: JsonObject) -> Table:
    table = text_table(
        "Consistency and time",
        ["scheme", "arm"],
        [
            *("inconsistent texts", "rollbacks per text", "passes discarded per text"),
            *("time per token", "of it outside the model", "time with / without rollback (95 %)"),
        ],
    )
    overheads = {entry["scheme"]: entry for entry in report["overhead"]}
    above = ""
    for entry in report["written"]:
        scheme = entry["scheme"]
        overhead = overheads.get(scheme, {}) if entry["arm"] == ROLLBACK else {}
        table.add_row(
            without_repeats(scheme, above),
            entry["arm"],
            f"{entry['inconsistent']:.1%}",
            f"{entry['rollbacks']:.2f}",
            _optional(overhead, "discarded_passes", ".2f"),
            duration(entry["seconds_per_token"]),
            duration(entry["seconds_per_token_outside_model"]),
            _overhead(overhead),
        )
        above = scheme
    if overhead_of_all := _overhead(report["overhead_of_all"]):
        table.caption = (
            f"Time with / without rollback, over texts of all schemes: {overhead_of_all}"
        )
    return table


def _unmarked(report: JsonObject) -> Table:
    title = f"What each scheme finds in texts without a watermark (scheme {UNMARKED})"
    table = text_table(title, ["scheme", "arm"], ["strength (sd)", _DETECTED])
    for entry in report["unmarked"]:
        table.add_row(entry["scheme"], entry["arm"], _strength(entry), f"{entry['detected']:.1%}")
    return table


def _attacked(report: JsonObject) -> Table:
    table = text_table(
        "After attacks. AUROC: told apart from texts without a watermark, which are not attacked",
        ["scheme", "attack", "arm"],
        ["changed", "strength (sd)", _DETECTED, "AUROC (95 %)"],
    )
    entries = sorted(report["attacked"], key=lambda entry: (entry["scheme"], entry["attack"]))
    above = ("", "")
    for entry in entries:
        scheme, attack = entry["scheme"], entry["attack"]
        table.add_row(
            without_repeats(scheme, above[0]),
            "" if (scheme, attack) == above else attack,
            entry["arm"],
            f"{entry['changed']:.1%}",
            _strength(entry),
            f"{entry['detected']:.1%}",
            _auroc(entry),
        )
        above = scheme, attack
    return table


def _strength(entry: JsonObject) -> str:
    deviation = _optional(entry, "strength_sd", ".2f")
    return _optional(entry, "strength", ".2f") + (f" ({deviation})" if deviation else "")


def _auroc(entry: JsonObject) -> str:
    return _with_interval(entry, "auroc", "auroc_interval")


def _overhead(entry: JsonObject) -> str:
    return _with_interval(entry, "ratio", "interval")


def _with_interval(entry: JsonObject, name: str, interval: str) -> str:
    if entry.get(name) is None:
        return ""
    low, high = entry[interval]
    return f"{entry[name]:.4f} ({low:.4f}, {high:.4f})"


def _optional(entry: JsonObject, name: str, form: str) -> str:
    """A number, or nothing where the entry has none."""
    return "" if entry.get(name) is None else format(entry[name], form)
