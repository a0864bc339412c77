"""Figures as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from benchmarks.spread import duration
from benchmarks.workers import Found

from .plan import FPR, ROLLBACK, UNMARKED

_DETECTED = f"p < {FPR:.0e}".replace("e-0", "e-")


def tables(found: Found) -> Iterator[Table]:
    """Tables of what `figures` gives, in the order in which to read them."""
    yield _written(found)
    yield _unmarked(found)
    yield _attacked(found)


def _written(found: Found) -> Table:
    table = _table(
        "Texts as their receiver reads them: strength (sd), share detected, told apart from texts "
        "without a watermark",
        ["scheme", "arm"],
        ["texts", "tokens", "strength", "lost", _DETECTED, "AUROC (95 %)", "PPL", "PPL read back"],
        ["rollbacks", "in vain", "inconsistent", "outside the model", "a token", "time (95 %)"],
    )
    overheads = {row["scheme"]: row for row in found["overhead"]}
    last = ""
    for row in found["written"]:
        scheme = row["scheme"]
        overhead = overheads.get(scheme, {}) if row["arm"] == ROLLBACK else {}
        table.add_row(
            "" if scheme == last else scheme,
            row["arm"],
            f"{row['texts']:,}",
            f"{row['tokens']:.0f}",
            _strength(row),
            f"{row['strength_lost']:.2f}" if "strength_lost" in row else "",
            f"{row['detected']:.1%}" if "detected" in row else "",
            _auroc(row),
            _number(row["perplexity"]),
            _number(row["perplexity_read"]),
            f"{row['rollbacks']:.2f}",
            f"{overhead['in_vain']:.2f}" if "in_vain" in overhead else "",
            f"{row['inconsistent']:.1%}",
            duration(row["seconds_outside_the_model"]),
            duration(row["seconds_a_token"]),
            _overhead(overhead),
        )
        last = scheme
    if over_all := _overhead(found["overhead_of_all"]):
        table.caption_justify = "left"
        table.caption = f"Time with rollback, over the texts of all schemes: {over_all}"
    return table


def _unmarked(found: Found) -> Table:
    table = _table(
        f"What schemes see in texts of scheme {UNMARKED}",
        ["scheme", "arm"],
        ["strength", _DETECTED],
    )
    for row in found["unmarked"]:
        table.add_row(row["scheme"], row["arm"], _strength(row), f"{row['detected']:.1%}")
    return table


def _attacked(found: Found) -> Table:
    table = _table(
        "After attacks; without a watermark are texts that were not attacked",
        ["scheme", "attack", "arm"],
        ["changed", "strength", _DETECTED, "AUROC (95 %)"],
    )
    order = sorted(found["attacked"], key=lambda row: (row["scheme"], row["attack"]))
    last: tuple[str, str] = ("", "")
    for row in order:
        here = row["scheme"], row["attack"]
        table.add_row(
            "" if here[0] == last[0] else here[0],
            "" if here == last else here[1],
            row["arm"],
            f"{row['changed']:.1%}",
            _strength(row),
            f"{row['detected']:.1%}",
            _auroc(row),
        )
        last = here
    return table


def _strength(row: Found) -> str:
    if "strength" not in row:
        return ""
    spread = row["strength_sd"]
    return f"{row['strength']:.2f}" + (f" ({spread:.2f})" if spread is not None else "")


def _auroc(row: Found) -> str:
    if "auroc" not in row:
        return ""
    low, high = row["auroc_interval"]
    return f"{row['auroc']:.4f} ({low:.4f}, {high:.4f})"


def _overhead(row: Found) -> str:
    if row.get("ratio") is None:
        return ""
    low, high = row["interval"]
    return f"× {row['ratio']:.4f} ({low:.4f}, {high:.4f})"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _table(title: str, left: Sequence[str], *right: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in left:
        table.add_column(name, no_wrap=True)
    for name in (name for names in right for name in names):
        table.add_column(name, justify="right", no_wrap=True)
    return table
