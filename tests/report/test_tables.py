"""Tables of a terminal show what stands in files and names, and nothing else happens."""

from io import StringIO

from rich.console import Console
from rich.text import Text

from ticore.report._tables import facts_grid, plain_table


def shown(table):
    console = Console(file=StringIO(), width=60)
    console.print(table)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_facts_stand_in_lines_and_are_made_visible():
    facts = [("name", "a\x1b[2Jb"), ("kept", Text("[bold]")), ("markup", "[red]x")]
    assert shown(facts_grid(facts)) == [
        "name    a\\x1b[2Jb",
        "kept    [bold]",
        "markup  [red]x",
    ]


def test_a_plain_table_has_headings_and_no_lines():
    table = plain_table("one", "two")
    table.add_row("1", "2")
    assert shown(table) == ["one  two", "1    2"]
