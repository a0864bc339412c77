"""A table for the terminal: a list of tokens on the left, what is read back on the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..consistency import Comparison
from .segments import Mark, Segment, Token, differing_marks, segments
from .summary import summary
from .visible import visible, visible_token

_STYLES = {
    Mark.SAME: "",
    Mark.SOURCE: "bold red",
    Mark.CONSEQUENTIAL: "bold yellow",
    Mark.OTHER: "bold magenta",
}


def inspection_table(
    comparison: Comparison, token_bytes: Callable[[int], bytes], given: str | None = None
) -> Group:
    """The text, a table of its tokens, what the marks in it mean, and a summary.

    Each segment begins on a row of its own, which tells the offset in bytes; the side with fewer
    tokens leaves the rest of its rows empty.

    Args:
        token_bytes: the bytes of an id, as the tokenizer has them.
        given: the text whose encoding the list is, if there is one.
    """
    found = segments(comparison)
    parts: list[RenderableType] = [Text(visible(comparison.text, keep="\n")), ""]
    if found:
        parts += [_table(found, token_bytes), ""]
    if marks := differing_marks(found):
        parts += [Text(f"{mark.letter}  {mark.meaning}", style=_STYLES[mark]) for mark in marks]
        parts += [""]
    verdict, *more = summary(comparison, given)
    parts += [Text(verdict, style="green" if comparison.consistent else "bold red")]
    parts += [Text(sentence) for sentence in more]
    return Group(*parts)


def _table(found: Sequence[Segment], token_bytes: Callable[[int], bytes]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("byte", justify="right", no_wrap=True, style="dim")
    for title in ("token", "read back"):
        table.add_column(no_wrap=True)
        table.add_column("id", justify="right", no_wrap=True)
        table.add_column(title, overflow="fold")
    for segment in found:
        rows = zip_longest(segment.given, segment.again)
        for n, (given, again) in enumerate(rows):
            offset = "" if n else str(segment.start)
            table.add_row(offset, *_cells(given, token_bytes), *_cells(again, token_bytes))
    return table


def _cells(token: Token | None, token_bytes: Callable[[int], bytes]) -> list[Text]:
    if token is None:
        return [Text()] * 3
    parts = (token.mark.letter, str(token.id), visible_token(token_bytes(token.id)))
    return [Text(part, style=_STYLES[token.mark]) for part in parts]
