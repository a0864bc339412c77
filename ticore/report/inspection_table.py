"""A table for the terminal: a list of tokens on the left, what is read back on the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, zip_longest

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..consistency import Comparison
from .interleaved import TokenName, interleaved, nameless
from .segments import Mark, Segment, Token, differing_marks, segments
from .summary import summary
from .visible import visible, visible_token

_STYLES = {
    Mark.SAME: "",
    Mark.SOURCE: "bold red",
    Mark.CONSEQUENTIAL: "bold yellow",
    Mark.OTHER: "bold magenta",
    Mark.UNKNOWN: "bold red",
    Mark.BOUNDARY: "cyan",
}


def inspection_table(
    comparison: Comparison,
    token_bytes: Callable[[int], bytes],
    given: str | None = None,
    token_name: TokenName = nameless,
) -> Group:
    """The text, a table of its tokens, what the marks in it mean, and a summary.

    Each segment begins on a row of its own, which tells the offset in bytes; the side with fewer
    tokens leaves the rest of its rows empty.

    Args:
        token_bytes: the bytes of an id, as the tokenizer has them.
        given: the text whose encoding the list is, if there is one.
        token_name: what the tokenizer calls special tokens.
    """
    found = segments(comparison)
    parts: list[RenderableType] = [_text(comparison, token_name), ""]
    if found:
        parts += [_table(found, token_bytes, token_name), ""]
    if marks := differing_marks(found):
        parts += [Text(f"{mark.letter}  {mark.meaning}", style=_STYLES[mark]) for mark in marks]
        parts += [""]
    verdict, *more = summary(comparison, given)
    parts += [Text(verdict, style="green" if comparison.consistent else "bold red")]
    parts += [Text(sentence) for sentence in more]
    return Group(*parts)


def _text(comparison: Comparison, token_name: TokenName) -> Text:
    """The text, with special tokens in their places."""
    shown = Text()
    for piece, special in interleaved(comparison, token_name):
        shown.append(visible(piece, keep="" if special else "\n"), _STYLES[Mark.BOUNDARY] * special)
    return shown


def _table(
    found: Sequence[Segment], token_bytes: Callable[[int], bytes], token_name: TokenName
) -> Table:
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
            sides = (_cells(token, token_bytes, token_name) for token in (given, again))
            table.add_row(offset, *chain.from_iterable(sides))
    return table


def _cells(
    token: Token | None, token_bytes: Callable[[int], bytes], token_name: TokenName
) -> list[Text]:
    if token is None:
        return [Text()] * 3
    data = token_bytes(token.id)
    name = "" if data else token_name(token.id)
    shown = visible(name) if name else visible_token(data)
    parts = (token.mark.letter, str(token.id), shown)
    return [Text(part, style=_STYLES[token.mark]) for part in parts]
