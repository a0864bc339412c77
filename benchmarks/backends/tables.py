"""The report as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table

from benchmarks._harness.number_format import ratio
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject

_PARTS = ("model", "pool", "verifier", "codec", "besides")


def tables(report: JsonObject) -> Iterator[Table]:
    """The tables of a report, in the order in which to read them."""
    yield _differences(report["differences"])
    yield _robustness(report["robustness"], report["settings"]["noise_levels"])
    yield _exchange(report["exchange"])
    speed = report["speed"]
    yield _transformers(speed.get("transformers", []))
    yield _token_cost(speed.get("token_cost", []))
    yield _parallel_reading(speed.get("parallel_reading", []))
    yield _batches(speed.get("batches", []))


def _differences(pairs: Sequence[JsonObject]) -> Table:
    """Backends and dtypes against each other; on the diagonal the ways to read within each."""
    sides = [side for pair in pairs for side in (pair["one"], pair["other"])]
    kinds = list(dict.fromkeys(map(_kind, sides)))
    table = text_table("Largest difference of a logit, over all ways to read", [""], kinds)
    for n, kind in enumerate(kinds):
        cells = [_largest(pairs, kind, other) for other in kinds[: n + 1]]
        table.add_row(kind, *cells)
    return table


def _kind(side: JsonObject) -> str:
    return f"{side['model']} {side['dtype']}"


def _largest(pairs: Sequence[JsonObject], kind: str, other: str) -> str:
    differences = [
        pair["difference"]
        for pair in pairs
        if {_kind(pair["one"]), _kind(pair["other"])} == {kind, other}
    ]
    return f"{max(differences):.0e}" if differences else ""


def _robustness(cells: Sequence[JsonObject], noise_levels: Sequence[float]) -> Table:
    table = text_table(
        "Messages misread, %, by the noise in the reader's logits",
        ["codec", "numerics", "grid"],
        ["texts", *(f"{noise:.0e}" for noise in noise_levels)],
    )
    for cell in cells:
        shares = (f"{100 * rate['value']:.0f}" for rate in cell["misread"])
        grid = f"2^-{cell['grid_bits']}"
        table.add_row(cell["codec"], cell["numerics"], grid, str(cell["text_count"]), *shares)
    return table


def _exchange(cells: Sequence[JsonObject]) -> Table:
    readers = list(dict.fromkeys(cell["reader"] for cell in cells))
    headings = [f"read by {reader}" for reader in readers]
    table = text_table("Messages misread, of those written", ["written by"], headings)
    for writer in dict.fromkeys(cell["writer"] for cell in cells):
        own = [cell for cell in cells if cell["writer"] == writer]
        table.add_row(writer, *(f"{cell['misread']} of {cell['text_count']}" for cell in own))
    return table


def _transformers(rows: Sequence[JsonObject]) -> Table:
    table = text_table(
        "Tokens per second",
        ["model", "dtype"],
        ["Decoder", "generate", "times", "generate, all in this dtype", "times"],
    )
    for row in rows:
        others = (
            cell
            for name in ("generate", "generate_exact")
            for cell in (f"{row[name]:.0f}", f"{row['decoder'] / row[name]:.2f}")
        )
        table.add_row(row["model"], row["dtype"], f"{row['decoder']:.0f}", *others)
    return table


def _token_cost(rows: Sequence[JsonObject]) -> Table:
    headings = ["top-k", *_PARTS[:-1], "besides the model", "share, %"]
    table = text_table("Milliseconds per token, writing", ["model", "dtype"], headings)
    for row in rows:
        times = (f"{row[f'{part}_ms']:.3f}" for part in _PARTS)
        share = f"{100 * row['share']:.1f}"
        table.add_row(row["model"], row["dtype"], str(row["top_k"]), *times, share)
    return table


def _parallel_reading(rows: Sequence[JsonObject]) -> Table:
    headings = ["same-stack", "portable", "times"]
    table = text_table("Tokens per second, reading", ["model"], headings)
    for row in rows:
        table.add_row(row["model"], *_compared(row["one_by_one"], row["parallel"]))
    return table


def _batches(rows: Sequence[JsonObject]) -> Table:
    headings = ["texts", "one by one", "in a batch", "times"]
    title = "Tokens per second, generating with rollback"
    table = text_table(title, ["model", "dtype"], headings)
    for row in rows:
        speeds = _compared(row["one_by_one"], row["batched"])
        table.add_row(row["model"], row["dtype"], str(row["text_count"]), *speeds)
    return table


def _compared(slow: float, fast: float) -> tuple[str, str, str]:
    return f"{slow:.0f}", f"{fast:.0f}", ratio(fast / slow)
