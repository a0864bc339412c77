"""Pages show the same in Markdown and in HTML, whatever the texts hold."""

from html.parser import HTMLParser

import pytest

from benchmarks._harness.style import new_figure
from benchmarks.paper.page import write_pages
from benchmarks.paper.sections import PageFigure, PageTable, Section

pytest.importorskip("matplotlib")


class Cells(HTMLParser):
    """Collects the texts of table cells, and the names of all elements."""

    def __init__(self, page):
        super().__init__()
        self.names, self.cells = set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        if tag in {"td", "th"}:
            self.cells.append("")

    def handle_data(self, data):
        if self.cells and self.lasttag in {"td", "th"}:
            self.cells[-1] += data


def draw():
    figure = new_figure(2, 2)
    figure.subplots().plot([1, 2])
    return figure


def test_pages_hold_tables_and_figures(tmp_path):
    table = PageTable("Rates", ["kind", "value"], [["a|b", "1"], ["<script>", "2*3"]])
    sections = [Section("Part", ["Some words.", table, PageFigure("plot", "A line", draw)])]
    write_pages(tmp_path, ["What this is."], sections)
    markdown = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "| a\\|b | 1 |\n| \\<script\\> | 2\\*3 |" in markdown
    assert "![A line](figures/plot.svg)" in markdown
    page = Cells((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert [cell.strip() for cell in page.cells] == ["kind", "value", "a|b", "1", "<script>", "2*3"]
    assert "svg" in page.names
    assert "script" not in page.names
    assert {each.name for each in (tmp_path / "figures").iterdir()} == {"plot.svg", "plot.png"}


def test_long_tables_are_folded(tmp_path):
    """A reader of forty tables sees their titles, and unfolds what they look for."""
    tables = [PageTable("Rates", ["kind"], [[str(n)] for n in range(count)]) for count in (40, 41)]
    write_pages(tmp_path, [], [Section("Part", tables)])
    markdown = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert markdown.count("<details") == markdown.count("</details>") == 1
    assert "<summary>all 41 rows</summary>\n\n| kind |\n" in markdown
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert page.count("<details>") == page.count("</details>") == 1
    assert page.index("<td") < page.index("<details>") < page.index("all 41 rows")
