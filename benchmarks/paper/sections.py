"""What a page shows of a part: paragraphs, tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PageTable:
    """A table.

    Attributes:
        title: the line above it.
        headings: of its columns. The first `labels` columns hold words, the others numbers.
        rows: the cells of each row.
        labels: how many columns hold words.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int = 1


@dataclass(frozen=True)
class PageFigure:
    """A figure.

    Attributes:
        name: of its files, without an ending.
        title: the line above it, and what stands in for it where it cannot be seen.
        draw: makes a matplotlib figure.
    """

    name: str
    title: str
    draw: Callable[[], Any]


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes:
        title: its heading.
        blocks: in order; a str is a paragraph of plain text.
    """

    title: str
    blocks: Sequence[str | PageTable | PageFigure]
