"""A text in the colours of its tokens' scores, what the colours mean, and each token in words.

For green lists, a green token is filled and any other is outlined. For other schemes, a higher
score has a darker fill. Grey tokens are not counted. Nothing depends on seeing colours, or on a
mouse: fills and outlines differ as well, a token that is clicked or tapped says the same in words
at the foot of the window, and a table that opens has all tokens for the keyboard.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby, starmap

import numpy as np

from .._support.visible import visible, visible_token
from ..consistency import compare
from ..interfaces import Tokenizer
from ..watermarking import Detection
from ._detection_facts import stands_out
from ._markup import Html, element, text
from ._style import Style

SCORED_TEXT_STYLE = Style(
    light="  --good: 40 140 60; --bad: #b3261e;\n",
    dark="  --good: 60 150 80; --bad: #ff8a80;\n",
    rules="""\
.legend { display: flex; flex-wrap: wrap; gap: 0 1.5rem; padding: 0; list-style: none; }
.scored { line-height: 2; }
.scored span[title], .legend span { border-radius: 0.2rem; }
.scored span[title]:focus { outline: 2px solid var(--ink); }
.scored span[title]:focus::after {
  content: attr(title); position: fixed; inset: auto 0 0; z-index: 1; padding: 0.7rem 1rem;
  background: var(--ink); color: var(--paper); direction: ltr; unicode-bidi: isolate;
  font: normal 1rem/1.4 system-ui, sans-serif; white-space: normal;
}
.segment { text-decoration: underline 2px; text-underline-offset: 0.35em; }
.grey { color: var(--faint); font-style: italic; }
.red { outline: 1px dashed var(--bad); outline-offset: -1px; }
.green { background: rgb(var(--good) / 0.4); }
.s1 { background: rgb(var(--good) / 0.12); }
.s2 { background: rgb(var(--good) / 0.24); }
.s3 { background: rgb(var(--good) / 0.4); }
.s4 { background: rgb(var(--good) / 0.6); }
.each { margin: 0.5rem 0; }
.each summary { padding: 0.4rem 0; cursor: pointer; }
.each td:nth-child(-n + 3) { padding-right: 1.5rem; overflow-wrap: anywhere; }
""",
)

_UNFINISHED = "\N{WHITE SMALL SQUARE}"
_LACKED = "[{}]"  # the id of a token that the tokenizer lacks
# The fill gets darker at each of these scores. In text without a watermark 39, 24, 23, 12 and 2 of
# a hundred tokens have reached none, one, two, three and all four of them. Scores from 0 to 1 have
# degrees of their own, which as many tokens reach.
_DEGREES = (0.5, 1.0, 2.0, 4.0)


def scored_text(found: Detection, tokenizer: Tokenizer) -> tuple[Html, Html]:
    """The text in colours and the table of its tokens, for a page that has SCORED_TEXT_STYLE."""
    parts = list(_parts(found, tokenizer))
    said = [_said(found, at, part is None) for at, part in enumerate(parts)]
    shown = _tokens(found, [part or _UNFINISHED for part in parts], said)
    return (
        element("div", *shown, class_="text scored", lang="", dir="auto"),
        _table(found, tokenizer, said),
    )


def legend(several: Sequence[Detection]) -> Html:
    """What the colours and signs mean in the texts of one detector.

    Args:
        several: at least one. A sign that none of them has is left out.
    """
    items = []
    scored = {_degrees(found): found.scheme for found in several if found.green is None}
    for degrees, scheme in scored.items():
        of = "" if len(scored) == 1 else f" of {scheme}"
        # Of few scores one may be several degrees: it has the darkest fill.
        reached = {degree: f"s{level}" for level, degree in enumerate(degrees, 1)}
        names = {"s0": f"below {degrees[0]:.2g}"}
        names |= {kind: f"from {degree:.2g}" for degree, kind in reached.items()}
        levels = [element("span", text(f" {n} "), class_=kind) for kind, n in names.items()]
        items.append(element("li", text(f"score{of}: "), *levels))
    if any(found.green is not None for found in several):
        green = element("span", text("green token"), class_="green")
        items.append(element("li", green, text(" "), element("span", text("other"), class_="red")))
    items.append(element("li", element("span", text("does not count"), class_="grey")))
    if any(map(stands_out, several)):
        items.append(element("li", element("span", text("best segment"), class_="segment")))
    return element("ul", *items, class_="legend")


def _table(found: Detection, tokenizer: Tokenizer, said: Sequence[str]) -> Html:
    names = ("number", "token", "id", "what it says")
    head = element("tr", *(element("th", text(name), scope="col") for name in names))

    def row(at: int, token: int) -> Html:
        is_known = 0 <= token < tokenizer.vocab_size
        spelled = visible_token(tokenizer.token_bytes(token)) if is_known else ""
        cells = str(at), spelled, str(token), said[at]
        return element("tr", *(element("td", text(cell)) for cell in cells))

    rows = starmap(row, enumerate(found.ids.tolist()))
    summary = element("summary", text(f"Each of the {found.token_count:,} tokens"))
    return element("details", summary, element("table", head, *rows), class_="each")


def _tokens(found: Detection, parts: Sequence[str], said: Sequence[str]) -> Iterator[Html]:
    degrees = _degrees(found)
    shown = [
        element(
            "span",
            text(part, keep="\n"),
            class_=_kind(found, at, degrees),
            title=f"token {at}, id {found.ids[at]}; {said[at]}",
            tabindex="-1",  # a click or a tap shows the title; the keyboard has the table
        )
        for at, part in enumerate(parts)
    ]
    begin, end = (found.segment.begin, found.segment.end) if stands_out(found) else (0, 0)
    yield from shown[:begin]
    if begin < end:
        yield element("span", *shown[begin:end], class_="segment")
    yield from shown[end:]


def _parts(found: Detection, tokenizer: Tokenizer) -> Iterator[str | None]:
    """The characters that each token completes; None for one that ends within a character.

    The id of a token that the tokenizer lacks stands for it: engines put -1 before a text, and a
    model may have more ids.
    """
    for is_known, group in groupby(found.ids.tolist(), lambda i: 0 <= i < tokenizer.vocab_size):
        ids = list(group)
        yield from _parts_of_known(ids, tokenizer) if is_known else map(_LACKED.format, ids)


def _parts_of_known(ids: list[int], tokenizer: Tokenizer) -> Iterator[str | None]:
    comparison = compare(tokenizer, ids)
    data, pending = comparison.text.encode(), b""
    for token, (begin, end) in zip(comparison.ids, comparison.spans, strict=True):
        pending += data[begin:end]
        try:
            part = pending.decode()
        except UnicodeDecodeError:
            yield None
            continue
        pending = b""
        # A token with no text, such as a dummy prefix, is shown too, so that it has a title.
        yield part or visible(visible_token(tokenizer.token_bytes(token)))


def _degrees(found: Detection) -> tuple[float, ...]:
    """The scores at which the fill gets darker, in rising order. All can occur, and lower ones."""
    if found.chances is None:
        return _DEGREES
    scores = np.flatnonzero(found.chances)
    reached = 1 - np.cumsum(found.chances[scores])[:-1]  # by the share of tokens, from the second
    nearest = [int(np.abs(reached - math.exp(-degree)).argmin()) for degree in _DEGREES]
    return tuple((scores[1:][nearest] / (len(found.chances) - 1)).tolist())


def _kind(found: Detection, at: int, degrees: Sequence[float]) -> str:
    score = float(found.scores[at])
    if not found.counted[at]:
        return "grey"
    if found.green is not None:
        return "green" if score else "red"
    return f"s{sum(score >= degree for degree in degrees)}"


def _said(found: Detection, at: int, is_unfinished: bool) -> str:
    """What a token says about the watermark."""
    end = "; it ends within a character" if is_unfinished else ""
    score = float(found.scores[at])
    if math.isnan(score):
        return f"no score: too few tokens before it{end}"
    said = f"score {score:.2f}"
    if found.green is not None:
        said = "green" if score else "not green"
    counts = "" if found.counted[at] else "; not counted: it repeats a random number"
    return f"{said}{counts}{end}"
