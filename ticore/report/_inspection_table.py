"""A table for the terminal: a token list on the left, the tokens read back on the right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, zip_longest

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .._support.visible import visible, visible_token
from ..consistency import Comparison
from ._blocks import Block, ComparedToken, TokenStatus, blocks, differing_statuses
from ._interleaved import TokenName, interleaved, nameless
from ._summary import summary
from ._tables import plain_table

_STYLES = {
    TokenStatus.SAME: "",
    TokenStatus.SOURCE: "bold red",
    TokenStatus.CONSEQUENTIAL: "bold yellow",
    TokenStatus.OTHER: "bold magenta",
    TokenStatus.UNKNOWN: "bold red",
    TokenStatus.BOUNDARY: "cyan",
}


_MOST_BLOCKS = 2_000


def inspection_table(
    comparison: Comparison,
    token_bytes: Callable[[int], bytes],
    given: str | None = None,
    token_name: TokenName = nameless,
) -> Group:
    """The text, a table of its tokens, a legend of the letters in it, and a summary.

    Each block begins on a row of its own, which has the offset in bytes. The side with fewer tokens
    leaves the other rows of the block empty. Of a text of more than 2,000 blocks, only those that
    differ have rows, 2,000 at most.

    Args:
        comparison: a token list and the one that its text is read back as.
        token_bytes: the tokenizer's function from an id to its bytes.
        given: the text that was encoded to the list, if there is one.
        token_name: the tokenizer's names of special tokens.

    Returns:
        What `rich.console.Console.print` shows.
    """
    found = blocks(comparison)
    shown = _shown(found)
    parts: list[RenderableType] = [_text(comparison, token_name), ""]
    if shown:
        parts += [_table(shown, token_bytes, token_name), ""]
    if left_out := len(found) - len(shown):
        parts += [Text(f"{left_out:,} blocks of tokens are left out of the table"), ""]
    if statuses := differing_statuses(found):
        parts += [
            Text(f"{status.letter}  {status.meaning}", style=_STYLES[status]) for status in statuses
        ]
        parts += [""]
    verdict, *more = summary(comparison, given)
    parts += [Text(verdict, style="green" if comparison.consistent else "bold red")]
    parts += [Text(sentence) for sentence in more]
    return Group(*parts)


def _shown(found: Sequence[Block]) -> Sequence[Block]:
    """The blocks that have rows: nobody reads a longer table, and drawing it takes minutes."""
    if len(found) <= _MOST_BLOCKS:
        return found
    return [block for block in found if not block.same][:_MOST_BLOCKS]


def _text(comparison: Comparison, token_name: TokenName) -> Text:
    """The text, with special tokens in their places."""
    shown = Text()
    for piece, special in interleaved(comparison, token_name):
        shown.append(
            visible(piece, keep="" if special else "\n"), _STYLES[TokenStatus.BOUNDARY] * special
        )
    return shown


def _table(
    found: Sequence[Block], token_bytes: Callable[[int], bytes], token_name: TokenName
) -> Table:
    table = plain_table()
    table.add_column("byte", justify="right", no_wrap=True, style="dim")
    for title in ("token", "read back"):
        table.add_column(no_wrap=True)
        table.add_column("id", justify="right", no_wrap=True)
        table.add_column(title, overflow="fold")
    for block in found:
        rows = zip_longest(block.given, block.again)
        for n, (given, again) in enumerate(rows):
            offset = "" if n else str(block.start)
            sides = (_cells(token, token_bytes, token_name) for token in (given, again))
            table.add_row(offset, *chain.from_iterable(sides))
    return table


def _cells(
    token: ComparedToken | None, token_bytes: Callable[[int], bytes], token_name: TokenName
) -> list[Text]:
    if token is None:
        return [Text()] * 3
    data = token_bytes(token.id)
    name = "" if data else token_name(token.id)
    shown = visible(name) if name else visible_token(data)
    parts = (token.status.letter, str(token.id), shown)
    return [Text(part, style=_STYLES[token.status]) for part in parts]
