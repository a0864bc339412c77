"""The tables of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table

from benchmarks._harness.shown_rates import percent, plain
from benchmarks._harness.tables import text_table

from .plan import FREE, SAME, WHOLE

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

_NAMES = {SAME: "free samples of the same candidates", WHOLE: "of the whole vocabulary"}


def tables(report: JsonObject) -> Iterator[Table]:
    """How well kinds of texts are told apart, and how well sizes are guessed."""
    counts = {each["kind"]: each["texts"] for each in report["kinds"]}
    title = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    found = text_table(
        f"Area under the curve, 0.5 is chance ({title})",
        ["sealed texts against"],
        [_NAMES[kind] for kind in FREE],
    )
    cells = {(test["name"], test["free"]): test["auc"] for test in report["tests"]}
    for name in dict.fromkeys(test["name"] for test in report["tests"]):
        found.add_row(name, *(plain(cells.get((name, kind)), 3) for kind in FREE))
    yield found
    sizes = text_table(
        "A message's size, guessed",
        ["known"],
        ["padding class, %", "size, %", "mean error, bytes"],
    )
    for row in report["sizes"]:
        sizes.add_row(row["name"], percent(row["class"]), percent(row["size"]), plain(row["error"]))
    yield sizes
