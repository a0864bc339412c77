"""A web page with the tokens of a list above those that are read back, segment by segment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..consistency import Comparison
from .markup import Html, element, text
from .page import page, text_block, token_box
from .segments import Mark, Segment, Token, differing_marks, segments
from .summary import summary

# Borders differ in their pattern, too, and each box names its mark: colour is an addition.
_STYLE = """\
:root { --source: #b3261e; --consequential: #8a5a00; --other: #6a3fb5; }
@media (prefers-color-scheme: dark) {
  :root { --source: #ff8a80; --consequential: #ffc24d; --other: #c9a8ff; }
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
"""


def inspection_page(
    comparison: Comparison,
    token_bytes: Callable[[int], bytes],
    title: str,
    given: str | None = None,
) -> str:
    """A whole document.

    Args:
        token_bytes: the bytes of an id, as the tokenizer has them.
        title: plain text.
        given: the text whose encoding the list is, if there is one.
    """
    found = segments(comparison)
    first, *more = summary(comparison, given)
    return page(
        title,
        element("p", text(first), class_="summary"),
        *(element("p", text(sentence)) for sentence in more),
        element("h2", text("Text")),
        text_block(comparison.text),
        element("h2", text("Tokens, and below them those that are read back")),
        *_legend(found),
        element("ol", *(_segment(segment, token_bytes) for segment in found), class_="segments"),
        style=_STYLE,
    )


def _legend(found: Sequence[Segment]) -> list[Html]:
    """What the marks mean that occur; nothing if none does."""
    items = [
        element("li", element("strong", text(mark.letter)), text(f": {mark.meaning}"))
        for mark in differing_marks(found)
    ]
    return [element("ul", *items, class_="legend")] if items else []


def _segment(segment: Segment, token_bytes: Callable[[int], bytes]) -> Html:
    given, again = ([_box(t, token_bytes(t.id)) for t in s] for s in (segment.given, segment.again))
    if segment.same:
        # Said once to someone who hears the page.
        upper = element("div", *given, class_="row")
        lower = element("div", *again, class_="row", aria_hidden="true")
        return element("li", upper, lower, class_="segment")
    upper = element("div", *given, class_="row", role="group", aria_label="tokens")
    lower = element("div", *again, class_="row", role="group", aria_label="read back")
    return element("li", upper, lower, class_="segment differs")


def _box(token: Token, data: bytes) -> Html:
    start, end = token.span
    title = f"id {token.id}; bytes {data.hex(' ') or 'none'}; at {start} to {end} of the text"
    if token.mark is Mark.SAME:
        return token_box(data, str(token.id), title)
    label, kind = f"{token.mark.letter} {token.id}", token.mark.name.lower()
    return token_box(data, label, f"{title}; {token.mark.meaning}", kind)
