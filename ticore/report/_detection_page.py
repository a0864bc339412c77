"""A web page of texts in which a watermark was looked for, each token in the colour of its score.

For green lists, a green token is filled and any other is outlined. For other schemes, a higher
score has a darker fill. Grey tokens are not counted. Nothing depends on seeing colours: fills and
outlines differ as well, and the title of each token says the same in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from ..consistency import compare
from ..interfaces import Tokenizer
from ..watermarking import Detection
from ._detection_facts import detection_facts, probability, stands_out
from ._markup import Html, element, text
from ._page import facts_table, page
from ._stretch_chart import STRETCH_STYLE, stretch_chart
from ._style import Style
from ._visible import visible, visible_token

_OWN = Style(
    light="  --good: 40 140 60; --bad: #b3261e;\n",
    dark="  --good: 80 190 100; --bad: #ff8a80;\n",
    rules="""\
.verdict { font-weight: bold; font-size: 1.1rem; }
.legend { padding: 0; list-style: none; }
.scored { line-height: 2; }
.scored span[title], .legend span { border-radius: 0.2rem; }
.segment { text-decoration: underline 2px; text-underline-offset: 0.35em; }
.grey { color: var(--faint); font-style: italic; }
.red { outline: 1px dashed var(--bad); outline-offset: -1px; }
.green { background: rgb(var(--good) / 0.4); }
.s1 { background: rgb(var(--good) / 0.12); }
.s2 { background: rgb(var(--good) / 0.24); }
.s3 { background: rgb(var(--good) / 0.4); }
.s4 { background: rgb(var(--good) / 0.6); }
""",
)
DETECTION_STYLE = _OWN + STRETCH_STYLE

_UNFINISHED = "\N{WHITE SMALL SQUARE}"
# The fill gets darker at each of these scores. In text without a watermark 39, 24, 23, 12 and 2 of
# a hundred tokens have reached none, one, two, three and all four of them.
_DEGREES = (0.5, 1.0, 2.0, 4.0)


def detection_page(
    found: Sequence[tuple[str, Detection]], tokenizer: Tokenizer, title: str, warning: str = ""
) -> str:
    """A web page with a section for each text.

    Args:
        found: the texts' names, with what was found in each.
        tokenizer: the detector's.
        title: plain text.
        warning: a sentence on all texts that stands before them, such as that they depend on each
            other; empty: none.

    Returns:
        An HTML document without scripts, which fetches nothing.
    """
    said = (element("p", text(f"Note: {warning}")),) if warning else ()
    overview = [(visible(name), f"{one.verdict}, p-value {_best(one)}") for name, one in found]
    table = (facts_table(overview),) if len(found) > 1 else ()
    sections = (detection_section(*each, tokenizer) for each in found)
    return page(title, *said, *table, *sections, style=DETECTION_STYLE)


def _best(found: Detection) -> str:
    """The p-value that the verdict rests on."""
    in_part = found.verdict == "watermarked in part"
    return probability(found.segment.p_value if in_part else found.p_value)


def detection_section(name: str, found: Detection, tokenizer: Tokenizer) -> Html:
    """The section of one text in a `detection_page`, for a page that has DETECTION_STYLE."""
    chart = (stretch_chart(found, found.stretches),) if found.stretches else ()
    return element(
        "section",
        element("h2", text(name)),
        *verdict_and_facts(found),
        *chart,
        *drawn_tokens(found, tokenizer),
    )


def drawn_tokens(found: Detection, tokenizer: Tokenizer) -> tuple[Html, Html]:
    """The text in colours, after what they mean, for a page that has DETECTION_STYLE."""
    parts = list(_parts(found, tokenizer))
    segment = stands_out(found)
    shown = _tokens(found, parts, segment)
    return (
        _legend(found, _UNFINISHED in parts, segment),
        element("div", *shown, class_="text scored", lang="", dir="auto"),
    )


def verdict_and_facts(found: Detection) -> tuple[Html, Html]:
    """What the section of a text says, without the text."""
    return element("p", text(found.verdict), class_="verdict"), facts_table(detection_facts(found))


def _legend(found: Detection, some_unfinished: bool, segment: bool) -> Html:
    if found.green is None:
        names = [f"below {_DEGREES[0]:g}", *(f"from {degree:g}" for degree in _DEGREES)]
        levels = [element("span", text(f" {n} "), class_=f"s{at}") for at, n in enumerate(names)]
        first = element("li", text("score: "), *levels)
    else:
        green = element("span", text("green token"), class_="green")
        first = element("li", green, text(" "), element("span", text("other"), class_="red"))
    items = [
        first,
        element("li", element("span", text("does not count"), class_="grey")),
    ]
    if segment:
        items.append(element("li", element("span", text("best segment"), class_="segment")))
    if some_unfinished:
        items.append(element("li", text(f"{_UNFINISHED} a token that ends within a character")))
    return element("ul", *items, class_="legend")


def _tokens(found: Detection, parts: Sequence[str], segment: bool) -> Iterator[Html]:
    shown = [
        element("span", text(part, keep="\n"), class_=_kind(found, at), title=_title(found, at))
        for at, part in enumerate(parts)
    ]
    begin, end = (found.segment.begin, found.segment.end) if segment else (0, 0)
    yield from shown[:begin]
    if begin < end:
        yield element("span", *shown[begin:end], class_="segment")
    yield from shown[end:]


def _parts(found: Detection, tokenizer: Tokenizer) -> Iterator[str]:
    """The characters that each token completes; one of several tokens is shown with the last."""
    comparison = compare(tokenizer, found.ids.tolist())
    data, pending = comparison.text.encode(), b""
    for token, (begin, end) in zip(comparison.ids, comparison.spans, strict=True):
        pending += data[begin:end]
        try:
            part = pending.decode()
        except UnicodeDecodeError:
            yield _UNFINISHED
            continue
        pending = b""
        # A token with no text, such as a dummy prefix, is shown too, so that it has a title.
        yield part or visible(visible_token(tokenizer.token_bytes(token)))


def _kind(found: Detection, at: int) -> str:
    score = float(found.scores[at])
    if not found.counted[at]:
        return "grey"
    if found.green is not None:
        return "green" if score else "red"
    return f"s{sum(score >= degree for degree in _DEGREES)}"


def _title(found: Detection, at: int) -> str:
    score = float(found.scores[at])
    name = f"token {at}, id {found.ids[at]}; "
    if math.isnan(score):
        return name + "no score: too few tokens before it"
    said = f"score {score:.2f}"
    if found.green is not None:
        said = "green" if score else "not green"
    return name + (
        said if found.counted[at] else f"{said}; not counted: it repeats a random number"
    )
