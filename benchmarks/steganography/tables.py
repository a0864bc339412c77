"""Figures as tables for a terminal: a block for each measure, in it a line for each method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich import box
from rich.table import Table

from benchmarks.spread import ratio
from benchmarks.workers import Found

from .figures import compared, how_many
from .plan import ARITHMETIC, NAIVE, STEPWISE

Show = Callable[[Found], str]
"""One figure of a cell."""


def tables(found: Found) -> Iterator[Table]:
    """Tables of the settings and what `figures` gives, in the order in which to read them."""
    bits, cells = found["settings"]["bits"], found["cells"]
    title = f"Disambiguations, with {ARITHMETIC} coding"
    yield _methods(title, compared(cells, "disambiguation"), bits, _OF_DISAMBIGUATIONS)
    title = f"Codecs, with {STEPWISE} verification"
    yield _methods(title, compared(cells, "codec"), bits, _OF_CODECS)
    yield _naive(found["naive"])


def number(value: float) -> str:
    """Three digits, or as many as stand before the point: 0.012, 1.23, 12.3, 1,235."""
    digits = sum(abs(value) < limit for limit in (1, 10, 100))
    return f"{value:z,.{digits}f}"


def _figure(name: str, unit: float = 1.0) -> Show:
    return lambda cell: "" if cell[name] is None else number(cell[name] / unit)


def _errors(cell: Found) -> str:
    return f"{100 * cell['errors']['value']:.1f}"


def _interval(cell: Found) -> str:
    return "–".join(f"{100 * cell['errors'][end]:.1f}" for end in ("low", "high"))


def _failed(cell: Found) -> str:
    return f"{cell['failed']:,}"


_CARRIED = {"bits a token": _figure("bits_per_token")}
_CHANGED = {"total variation": _figure("total_variation"), "PPL": _figure("perplexity")}
_LOST_AND_SPENT = {
    "errors, %": _errors,
    "errors, 95 % interval": _interval,
    "ms a token, writing": _figure("writing", 1e-3),
    "ms a token, reading": _figure("reading", 1e-3),
    "ms a token, in the model": _figure("model", 1e-3),
    "tokens a text": _figure("tokens"),
}
_OF_DISAMBIGUATIONS = {
    **_CARRIED,
    "KL, truncation": _figure("kl_truncation"),
    "KL, filter": _figure("kl_filter"),
    **_CHANGED,
    "PPL, read back": _figure("perplexity_read"),
    **_LOST_AND_SPENT,
}
_OF_CODECS = {
    **_CARRIED,
    "utilisation": _figure("utilisation"),
    "KL, codec": _figure("kl_codec"),
    **_CHANGED,
    **_LOST_AND_SPENT,
}
_CAPTION = (
    "KL in bits a token; writing and reading without the time in the model, and each text is read "
    "by the process that has just written it"
)


def _methods(
    title: str, cells: Mapping[str, Mapping[int, Found]], bits: int, blocks: Mapping[str, Show]
) -> Table:
    """A line for each of `cells`, by name and top_k, in each of `blocks`."""
    every = [cell for by_top_k in cells.values() for cell in by_top_k.values()]
    top_k = sorted({cell["top_k"] for cell in every})
    table = _table(f"{title}: texts of {bits} bits, {how_many(every)} of each kind", top_k, "", "")
    table.caption, table.caption_justify = _CAPTION, "left"
    if any(cell["failed"] for cell in every):
        blocks = {"failed to write": _failed, **blocks}
    for label, show in blocks.items():
        for n, (name, by_top_k) in enumerate(cells.items()):
            shown = (_shown(by_top_k.get(k), show) for k in top_k)
            table.add_row("" if n else label, name, *shown)
        table.add_section()
    return table


def _shown(cell: Found | None, show: Show) -> str:
    """Empty where no text was written yet, or all failed."""
    if cell is None or (show is not _failed and cell["failed"] == cell["samples"]):
        return ""
    return show(cell)


def _naive(rows: Sequence[Found]) -> Table:
    title = f"{NAIVE}: how many times as long as {STEPWISE} a token takes outside the model"
    table = _table(title, [row["top_k"] for row in rows], "")
    for part in ("writing", "reading") if rows else ():
        table.add_row(part, *(ratio(row[part]) for row in rows))
    return table


def _table(title: str, top_k: Sequence[int], *left: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in left:
        table.add_column(name, no_wrap=True)
    for n, k in enumerate(top_k):
        table.add_column(f"{k:,}" if n else f"top-k {k:,}", justify="right", no_wrap=True)
    return table
