"""Pages: the same sections as Markdown and as HTML, with their figures as SVG and PNG."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks._harness.style import save_figure
from benchmarks._harness.tables import markdown_table
from ticore._support.atomic_files import write_atomically
from ticore.report._markup import Html, element, text
from ticore.report._page import page
from ticore.report._style import Style

from .sections import PageFigure, PageTable, Section

TITLE = "The experiments of Yan & Murawaki, theirs and ours"
_LONGEST = 40  # rows of a table that is not folded

_STYLE = Style(
    rules="""\
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; font-size: 0.9rem; }
.wide { overflow-x: auto; }
th, td { padding: 0.15rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; }
th { color: var(--faint); font-weight: 600; }
.words { text-align: left; }
h3 { font-size: 1rem; margin-bottom: 0; }
svg { max-width: 44rem; height: auto; background: #ffffff; }
"""
)


def write_pages(folder: Path, introduction: Sequence[str], sections: Sequence[Section]) -> None:
    """Write index.md, index.html and figures/ in `folder`.

    Args:
        folder: where they go; it is created.
        introduction: paragraphs above the sections.
        sections: in order.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    for each in _figures(sections):
        drawn = each.draw()
        for ending in ("svg", "png"):
            save_figure(drawn, figures / f"{each.name}.{ending}")
    write_atomically(folder / "index.md", _markdown(introduction, sections).encode())
    write_atomically(folder / "index.html", _html(introduction, sections, figures).encode())


def _figures(sections: Sequence[Section]) -> list[PageFigure]:
    return [block for each in sections for block in each.blocks if isinstance(block, PageFigure)]


def _markdown(introduction: Sequence[str], sections: Sequence[Section]) -> str:
    parts = [f"# {TITLE}", *introduction]
    for section in sections:
        parts.append(f"## {section.title}")
        for block in section.blocks:
            if isinstance(block, str):
                parts.append(block)
            elif isinstance(block, PageTable):
                parts += [f"### {block.title}", _markdown_table(block)]
            else:
                parts.append(f"![{block.title}](figures/{block.name}.svg)")
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: PageTable) -> str:
    are_numbers = [n >= table.labels for n in range(len(table.headings))]
    rows = markdown_table(table.headings, are_numbers, table.rows)
    if len(table.rows) <= _LONGEST:
        return rows
    opened = f'<details markdown="1">\n<summary>{_all_rows(table)}</summary>'
    return f"{opened}\n\n{rows}\n\n</details>"


def _all_rows(table: PageTable) -> str:
    """What is to be seen of a table that is folded."""
    return f"all {len(table.rows)} rows"


def _html(introduction: Sequence[str], sections: Sequence[Section], figures: Path) -> str:
    body = [element("p", text(paragraph)) for paragraph in introduction]
    for section in sections:
        body.append(element("h2", text(section.title)))
        for block in section.blocks:
            if isinstance(block, str):
                body.append(element("p", text(block)))
            elif isinstance(block, PageTable):
                body.append(_html_table(block))
            else:
                body.append(_html_figure(block, figures))
    return page(TITLE, *body, style=_STYLE)


def _html_table(table: PageTable) -> Html:
    def line(cells: Sequence[str], name: str) -> Html:
        kinds = ["words" if n < table.labels else "number" for n in range(len(cells))]
        found = [element(name, text(c), class_=k) for c, k in zip(cells, kinds, strict=True)]
        return element("tr", *found)

    head = element("thead", line(table.headings, "th"))
    rows = element("tbody", *(line(row, "td") for row in table.rows))
    title = element("h3", text(table.title))
    found = element("div", element("table", head, rows), class_="wide")
    if len(table.rows) > _LONGEST:
        found = element("details", element("summary", text(_all_rows(table))), found)
    return Html(title + found)


def _html_figure(figure: PageFigure, figures: Path) -> Html:
    # Inside the page, since a page fetches nothing. The drawing is our own, so it is safe markup.
    drawn = (figures / f"{figure.name}.svg").read_text(encoding="utf-8")
    return element(
        "figure", element("figcaption", text(figure.title)), Html(drawn[drawn.index("<svg") :])
    )
