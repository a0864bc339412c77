"""A web page with the tokens of a list above the tokens that are read back, block by block."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..consistency import Comparison
from ._blocks import Block, ComparedToken, TokenStatus, blocks, differing_statuses
from ._interleaved import TokenName, interleaved, nameless, shown_name
from ._markup import Html, element, text
from ._page import page, text_block, token_box
from ._style import Style
from ._summary import summary

# Borders also differ in their pattern, and each box has its letter: nothing depends on colour.
INSPECTION_STYLE = Style(
    light="""\
  --source: #b3261e; --consequential: #8a5a00; --other: #6a3fb5; --unknown: #a0266e;
  --boundary: #00639b;
""",
    dark="""\
  --source: #ff8a80; --consequential: #ffc24d; --other: #c9a8ff; --unknown: #ff9ad5;
  --boundary: #7cc4ff;
""",
    rules="""\
.summary { font-weight: bold; }
.legend { padding: 0; list-style: none; }
.blocks { display: flex; flex-wrap: wrap; gap: 0.4rem 0; padding: 0; list-style: none; }
.block { display: grid; grid-template-rows: 1fr 1fr; max-width: 100%; padding: 0.15rem; }
.block.differs { border-radius: 0.4rem; outline: 1px solid var(--line); }
.row { display: flex; flex-wrap: wrap; gap: 0.15rem; padding: 0.1rem 0; }
.row .token { flex: 1 1 auto; border-width: 2px; }
.token.source { border-color: var(--source); }
.token.source small { color: var(--source); }
.token.consequential { border-color: var(--consequential); border-style: dashed; }
.token.consequential small { color: var(--consequential); }
.token.other { border-color: var(--other); border-style: dotted; }
.token.other small { color: var(--other); }
.token.unknown { border-color: var(--unknown); border-style: double; }
.token.unknown small { color: var(--unknown); }
.token.boundary { border-color: var(--boundary); border-radius: 0; background: none; }
.token.boundary bdi, .token.boundary small, .special { color: var(--boundary); }
.special { font: 0.85em ui-monospace, monospace; border-bottom: 1px solid; }
""",
)

Spell = Callable[[ComparedToken], bytes]


def inspection_page(
    comparison: Comparison,
    token_bytes: Callable[[int], bytes],
    title: str,
    given: str | None = None,
    token_name: TokenName = nameless,
) -> str:
    """A web page that shows a comparison.

    Args:
        comparison: a token list and the one that its text is read back as.
        token_bytes: the tokenizer's function from an id to its bytes.
        title: plain text.
        given: the text that was encoded to the list, if there is one.
        token_name: the tokenizer's names of special tokens.

    Returns:
        An HTML document without scripts, which fetches nothing.
    """
    body = inspection_body(comparison, lambda token: token_bytes(token.id), given, token_name)
    return page(title, *body, style=INSPECTION_STYLE)


def inspection_body(
    comparison: Comparison,
    spell: Spell,
    given: str | None = None,
    token_name: TokenName = nameless,
    heading: str = "h2",
) -> list[Html]:
    """What an `inspection_page` shows below its title, for a page that has INSPECTION_STYLE.

    Args:
        comparison, given, token_name: see there.
        spell: the bytes of a token.
        heading: the name of elements that are headings.
    """
    found = blocks(comparison)
    first, *more = summary(comparison, given)
    return [
        element("p", text(first), class_="summary"),
        *(element("p", text(sentence)) for sentence in more),
        element(heading, text("Text")),
        text_block(*_text(comparison, token_name)),
        element(heading, text("Tokens, and below them those that are read back")),
        *_legend(found),
        element(
            "ol",
            *(_block(block, spell, token_name) for block in found),
            class_="blocks",
        ),
    ]


def _text(comparison: Comparison, token_name: TokenName) -> list[Html]:
    """The text, with special tokens in their places."""
    return [
        element("span", text(piece), class_="special") if special else text(piece, keep="\n")
        for piece, special in interleaved(comparison, token_name)
    ]


def _legend(found: Sequence[Block]) -> list[Html]:
    """The meanings of the letters on the page; empty if there are no letters."""
    items = [
        element("li", element("strong", text(status.letter)), text(f": {status.meaning}"))
        for status in differing_statuses(found)
    ]
    return [element("ul", *items, class_="legend")] if items else []


def _block(block: Block, spell: Spell, token_name: TokenName) -> Html:
    given, again = (
        [_box(token, spell(token), token_name) for token in side]
        for side in (block.given, block.again)
    )
    if block.same:
        # A screen reader reads equal tokens once.
        upper = element("div", *given, class_="row")
        lower = element("div", *again, class_="row", aria_hidden="true")
        return element("li", upper, lower, class_="block")
    upper = element("div", *given, class_="row", role="group", aria_label="tokens")
    lower = element("div", *again, class_="row", role="group", aria_label="read back")
    return element("li", upper, lower, class_="block differs")


def _box(token: ComparedToken, data: bytes, token_name: TokenName) -> Html:
    start, end = token.span
    if token.status is TokenStatus.BOUNDARY:
        name = shown_name(token.id, token_name)
        title = f"id {token.id}; {name}; at {start} of the text; {token.status.meaning}"
        return token_box(data, f"{token.status.letter} {token.id}", title, "boundary", name)
    title = f"id {token.id}; bytes {data.hex(' ') or 'none'}; at {start} to {end} of the text"
    if token.status is TokenStatus.SAME:
        return token_box(data, str(token.id), title)
    label, kind = f"{token.status.letter} {token.id}", token.status.name.lower()
    name = "" if data else token_name(token.id)
    return token_box(data, label, f"{title}; {token.status.meaning}", kind, name)
