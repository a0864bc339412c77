"""The summary as tables: a block per measure, and in it a row per method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.table import Table

from benchmarks._harness.number_format import decimal, ratio
from benchmarks._harness.tables import text_table
from benchmarks._harness.types import JsonObject

from .plan import ARITHMETIC, NAIVE, STEPWISE
from .summary import comparison, sample_count_range

Show = Callable[[JsonObject], str]
"""What a table shows of a cell."""


def tables(report: JsonObject) -> Iterator[Table]:
    """The tables of a report, in the order in which to read them."""
    bits, cells = report["settings"]["bits"], report["cells"]
    title = f"Disambiguations with {ARITHMETIC} coding"
    yield _methods(title, comparison(cells, "disambiguation"), bits, _OF_DISAMBIGUATIONS)
    title = f"Codecs with {STEPWISE} verification"
    yield _methods(title, comparison(cells, "codec"), bits, _OF_CODECS)
    yield _naive(report["naive"])


def _number(name: str, unit: float = 1.0) -> Show:
    return lambda cell: "" if cell[name] is None else decimal(cell[name] / unit)


def _misread_percent(cell: JsonObject) -> str:
    return f"{100 * cell['misread_rate']['value']:.1f}"


def _misread_interval(cell: JsonObject) -> str:
    return "–".join(f"{100 * cell['misread_rate'][end]:.1f}" for end in ("low", "high"))


def _failures(cell: JsonObject) -> str:
    return f"{cell['failure_count']:,}"


_CARRIED = {"bits per token": _number("bits_per_token")}
_CHANGED = {"total variation": _number("total_variation"), "perplexity": _number("perplexity")}
_LOST_AND_SPENT = {
    "texts misread, %": _misread_percent,
    "texts misread, 95 % interval": _misread_interval,
    "ms per token, writing": _number("embed_seconds_per_token", 1e-3),
    "ms per token, reading": _number("extract_seconds_per_token", 1e-3),
    "ms per token, in the model": _number("model_seconds_per_token", 1e-3),
    "tokens per text": _number("token_count"),
}
_OF_DISAMBIGUATIONS = {
    **_CARRIED,
    "KL, truncation": _number("kl_truncation"),
    "KL, filter": _number("kl_filter"),
    **_CHANGED,
    "perplexity, read back": _number("perplexity_read"),
    **_LOST_AND_SPENT,
}
_OF_CODECS = {
    **_CARRIED,
    "utilisation": _number("utilisation"),
    "KL, codec": _number("kl_codec"),
    **_CHANGED,
    **_LOST_AND_SPENT,
}
_CAPTION = (
    "KL divergence in bits per token. Times of writing and reading are without the model's; each "
    "text is read by the process that has just written it."
)


def _methods(
    title: str,
    methods: Mapping[str, Mapping[int, JsonObject]],
    bits: int,
    blocks: Mapping[str, Show],
) -> Table:
    """A block for each of `blocks`, and in it a row for each method; see `comparison`."""
    cells = [cell for by_top_k in methods.values() for cell in by_top_k.values()]
    top_k = sorted({cell["top_k"] for cell in cells})
    table = _table(
        f"{title}: {bits} bits, {sample_count_range(cells)} texts of each kind", 2, top_k
    )
    table.caption = _CAPTION
    if any(cell["failure_count"] for cell in cells):
        blocks = {"not written": _failures, **blocks}
    for label, show in blocks.items():
        for n, (name, by_top_k) in enumerate(methods.items()):
            shown = (_shown(by_top_k.get(k), show) for k in top_k)
            table.add_row("" if n else label, name, *shown)
        table.add_section()
    return table


def _shown(cell: JsonObject | None, show: Show) -> str:
    """Empty where no text has been written yet, or none could be."""
    if cell is None or (show is not _failures and cell["failure_count"] == cell["sample_count"]):
        return ""
    return show(cell)


def _naive(entries: Sequence[JsonObject]) -> Table:
    title = f"{NAIVE}: how many times as long as {STEPWISE} a token takes outside the model"
    table = _table(title, 1, [entry["top_k"] for entry in entries])
    parts = {"writing": "embed_seconds_per_token", "reading": "extract_seconds_per_token"}
    for label, name in parts.items() if entries else ():
        table.add_row(label, *(ratio(entry[name]) for entry in entries))
    return table


def _table(title: str, labels: int, top_k: Sequence[int]) -> Table:
    """A table with a column per number of candidates, after columns of labels."""
    headings = [f"{k:,}" if n else f"top-k {k:,}" for n, k in enumerate(top_k)]
    return text_table(title, [""] * labels, headings)
