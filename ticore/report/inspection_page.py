"""A web page with the tokens of a list above those that are read back, segment by segment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..consistency import Comparison
from .interleaved import TokenName, interleaved, nameless, shown_name
from .markup import Html, element, text
from .page import page, text_block, token_box
from .segments import Mark, Segment, Token, differing_marks, segments
from .summary import summary

# Borders differ in their pattern, too, and each box names its mark: colour is an addition.
_STYLE = """\
:root {
  --source: #b3261e; --consequential: #8a5a00; --other: #6a3fb5; --unknown: #a0266e;
  --boundary: #00639b;
}
@media (prefers-color-scheme: dark) {
  :root {
    --source: #ff8a80; --consequential: #ffc24d; --other: #c9a8ff; --unknown: #ff9ad5;
    --boundary: #7cc4ff;
  }
}
.summary { font-weight: bold; }
.legend { padding: 0; list-style: none; }
.segments { display: flex; flex-wrap: wrap; gap: 0.4rem 0; padding: 0; list-style: none; }
.segment { display: grid; grid-template-rows: 1fr 1fr; max-width: 100%; padding: 0.15rem; }
.segment.differs { border-radius: 0.4rem; outline: 1px solid var(--line); }
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
"""


def inspection_page(
    comparison: Comparison,
    token_bytes: Callable[[int], bytes],
    title: str,
    given: str | None = None,
    token_name: TokenName = nameless,
) -> str:
    """A whole document.

    Args:
        token_bytes: the bytes of an id, as the tokenizer has them.
        title: plain text.
        given: the text whose encoding the list is, if there is one.
        token_name: what the tokenizer calls special tokens.
    """
    found = segments(comparison)
    first, *more = summary(comparison, given)
    return page(
        title,
        element("p", text(first), class_="summary"),
        *(element("p", text(sentence)) for sentence in more),
        element("h2", text("Text")),
        text_block(*_text(comparison, token_name)),
        element("h2", text("Tokens, and below them those that are read back")),
        *_legend(found),
        element(
            "ol",
            *(_segment(segment, token_bytes, token_name) for segment in found),
            class_="segments",
        ),
        style=_STYLE,
    )


def _text(comparison: Comparison, token_name: TokenName) -> list[Html]:
    """The text, with special tokens in their places."""
    return [
        element("span", text(piece), class_="special") if special else text(piece, keep="\n")
        for piece, special in interleaved(comparison, token_name)
    ]


def _legend(found: Sequence[Segment]) -> list[Html]:
    """What the marks mean that occur; nothing if none does."""
    items = [
        element("li", element("strong", text(mark.letter)), text(f": {mark.meaning}"))
        for mark in differing_marks(found)
    ]
    return [element("ul", *items, class_="legend")] if items else []


def _segment(segment: Segment, token_bytes: Callable[[int], bytes], token_name: TokenName) -> Html:
    given, again = (
        [_box(token, token_bytes(token.id), token_name) for token in side]
        for side in (segment.given, segment.again)
    )
    if segment.same:
        # Said once to someone who hears the page.
        upper = element("div", *given, class_="row")
        lower = element("div", *again, class_="row", aria_hidden="true")
        return element("li", upper, lower, class_="segment")
    upper = element("div", *given, class_="row", role="group", aria_label="tokens")
    lower = element("div", *again, class_="row", role="group", aria_label="read back")
    return element("li", upper, lower, class_="segment differs")


def _box(token: Token, data: bytes, token_name: TokenName) -> Html:
    start, end = token.span
    if token.mark is Mark.BOUNDARY:
        name = shown_name(token.id, token_name)
        title = f"id {token.id}; {name}; at {start} of the text; {token.mark.meaning}"
        return token_box(data, f"{token.mark.letter} {token.id}", title, "boundary", name)
    title = f"id {token.id}; bytes {data.hex(' ') or 'none'}; at {start} to {end} of the text"
    if token.mark is Mark.SAME:
        return token_box(data, str(token.id), title)
    label, kind = f"{token.mark.letter} {token.id}", token.mark.name.lower()
    name = "" if data else token_name(token.id)
    return token_box(data, label, f"{title}; {token.mark.meaning}", kind, name)
