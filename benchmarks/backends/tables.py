"""Figures as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table

from benchmarks.workers import Found


def tables(found: Found) -> Iterator[Table]:
    """Of what `figures` gives, in the order in which to read them."""
    yield _noise(found["noise"])
    yield _robustness(found["robustness"], found["settings"]["noises"])
    yield _exchange(found["exchange"])
    yield from _speed(found["speed"])


def _noise(pairs: Sequence[Found]) -> Table:
    """Backends and number formats against each other; in the corner the ways within each."""
    sides = [side for pair in pairs for side in (pair["one"], pair["other"])]
    kinds = list(dict.fromkeys(map(_kind, sides)))
    table = _table("Largest difference of a logit, over all ways to read", "", *kinds)
    for row, kind in enumerate(kinds):
        cells = [_largest(pairs, kind, other) for other in kinds[: row + 1]]
        table.add_row(kind, *cells)
    return table


def _kind(side: Found) -> str:
    return f"{side['place']} {side['dtype']}"


def _largest(pairs: Sequence[Found], kind: str, other: str) -> str:
    found = [
        pair["difference"]
        for pair in pairs
        if {_kind(pair["one"]), _kind(pair["other"])} == {kind, other}
    ]
    return f"{max(found):.0e}" if found else ""


def _robustness(cells: Sequence[Found], noises: Sequence[float]) -> Table:
    title = "Messages misread, %, by how far off the reader's logits are"
    table = _table(title, "codec", "numerics", "grid", "texts", *(f"{n:.0e}" for n in noises))
    for cell in cells:
        shares = (_percent(rate) for rate in cell["misread"])
        grid = f"2^-{cell['grid_bits']}"
        table.add_row(cell["codec"], cell["numerics"], grid, str(cell["texts"]), *shares)
    return table


def _percent(rate: Found) -> str:
    return f"{100 * rate['value']:.0f}"


def _exchange(cells: Sequence[Found]) -> Table:
    readers = list(dict.fromkeys(cell["reader"] for cell in cells))
    table = _table("Messages misread, of those written", "written by", "read by:", *readers)
    for writer in dict.fromkeys(cell["writer"] for cell in cells):
        own = [cell for cell in cells if cell["writer"] == writer]
        table.add_row(writer, "", *(f"{cell['misread']} of {cell['texts']}" for cell in own))
    return table


def _speed(speed: Found) -> Iterator[Table]:
    columns = ("Decoder", "generate", "share", "generate, alike", "share")
    table = _table("Tokens a second", "model", "dtype", *columns)
    for row in speed["generating"]:
        others = [
            cell
            for name in ("theirs", "alike")
            for cell in (f"{row[name]:.0f}", f"{row['ours'] / row[name]:.2f}")
        ]
        table.add_row(row["place"], row["dtype"], f"{row['ours']:.0f}", *others)
    yield table

    parts = ("model", "pool", "verifier", "codec", "beside")
    table = _table("Milliseconds a token, writing", "model", "dtype", "top-k", *parts, "share, %")
    for row in speed["overhead"]:
        times = (f"{row[part]:.3f}" for part in parts)
        share = f"{100 * row['share']:.1f}"
        table.add_row(row["place"], row["dtype"], str(row["top_k"]), *times, share)
    yield table

    table = _table("Tokens a second, reading", "model", "one by one", "one parallel pass", "times")
    for row in speed["parallel"]:
        rates = f"{row['stepwise']:.0f}", f"{row['parallel']:.0f}"
        table.add_row(row["place"], *rates, f"{row['parallel'] / row['stepwise']:.1f}")
    yield table

    heads = ("texts", "one by one", "at once", "times")
    table = _table("Tokens a second, watermarking with rollback", "model", "dtype", *heads)
    for row in speed["batches"]:
        rates = f"{row['apart']:.0f}", f"{row['together']:.0f}"
        gain = f"{row['together'] / row['apart']:.1f}"
        table.add_row(row["place"], row["dtype"], str(row["rows"]), *rates, gain)
    yield table


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, box=box.SIMPLE, title_justify="left", title_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    return table
