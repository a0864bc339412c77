"""Tables of a terminal: facts, and columns under headings."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from .._support.visible import visible


def facts_grid(facts: Iterable[tuple[str, str | Text]]) -> Table:
    """A line for each fact; a value that is a str is made visible."""
    grid = Table.grid(padding=(0, 2))
    for name, value in facts:
        shown = Text(visible(value)) if isinstance(value, str) else value
        grid.add_row(Text(name, style="bold"), shown)
    return grid


def plain_table(*titles: str) -> Table:
    """A table without lines, and these columns."""
    return Table(*titles, box=None, pad_edge=False, header_style="bold")
