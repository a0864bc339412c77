"""A web page of texts in which a watermark was looked for: the verdict first, then the evidence.

Each text has a section: what the verdict says in a sentence, its numbers, the score along the text,
and the text in the colours of its tokens' scores. Before several texts stand a table of their
verdicts and the legend, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..interfaces import Tokenizer
from ..watermarking import Detection, Stretch
from ._detection_facts import detection_facts, probability
from ._markup import Html, element, text
from ._page import facts_table, page
from ._score_chart import CHART_STYLE, score_chart
from ._scored_text import SCORED_TEXT_STYLE, legend, scored_text
from ._style import Style
from ._verdict import VERDICT_STYLE, SaidVerdict, said_of

_OVERVIEW = Style(
    rules="""\
.overview td, .overview th { padding: 0.25rem 1rem 0.25rem 0; vertical-align: top; }
.overview td:first-child { overflow-wrap: anywhere; }
.overview td:last-child { white-space: nowrap; }
.overview .sign { position: relative; padding-left: 2rem; }
.overview a { color: inherit; }
"""
)
DETECTION_STYLE = VERDICT_STYLE + SCORED_TEXT_STYLE + CHART_STYLE + _OVERVIEW


@dataclass(frozen=True)
class ShownDetection:
    """What a section shows of one text.

    Attributes:
        name: plain text.
        said: the verdict in words.
        verdict, p_value: as they stand in the table of all texts.
        facts: names and values.
        found: whose scores colour the text.
        stretches: of all configurations.
    """

    name: str
    said: SaidVerdict
    verdict: str
    p_value: float
    facts: Sequence[tuple[str, str]]
    found: Detection
    stretches: Sequence[Stretch]


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
    return page_of([shown_detection(*each) for each in found], tokenizer, title, warning)


def shown_detection(name: str, found: Detection) -> ShownDetection:
    """One watermark was looked for in a text."""
    in_part = found.verdict == "watermarked in part"
    return ShownDetection(
        name,
        said_of(found),
        found.verdict,
        found.segment.p_value if in_part else found.p_value,
        detection_facts(found),
        found,
        found.stretches,
    )


def page_of(
    shown: Sequence[ShownDetection], tokenizer: Tokenizer, title: str, warning: str = ""
) -> str:
    """The page of some texts; see `detection_page`."""
    warnings = (element("p", text(f"Note: {warning}")),) if warning else ()
    if len(shown) == 1:
        (one,) = shown
        return page(
            title, *warnings, _section(one, *evidence(one, tokenizer)), style=DETECTION_STYLE
        )
    sections = (
        _section(one, *_evidence(one, tokenizer), id_=_anchor(number))
        for number, one in enumerate(shown, 1)
    )
    all_kinds = legend([one.found for one in shown])
    return page(title, *warnings, _overview(shown), all_kinds, *sections, style=DETECTION_STYLE)


def evidence(shown: ShownDetection, tokenizer: Tokenizer) -> tuple[Html, ...]:
    """All but name and verdict of a page's only text, for a page that has DETECTION_STYLE."""
    return _evidence(shown, tokenizer, legend([shown.found]))


def verdict_and_facts(found: Detection) -> tuple[Html, Html]:
    """What the section of a text says, without the text."""
    return said_of(found).html(), facts_table(detection_facts(found))


def _section(shown: ShownDetection, *parts: Html, **attributes: str) -> Html:
    heading = element("h2", text(shown.name))
    return element("section", heading, shown.said.html(), *parts, **attributes)


def _evidence(shown: ShownDetection, tokenizer: Tokenizer, *meaning: Html) -> tuple[Html, ...]:
    chart = score_chart(shown.found, shown.stretches)
    return (
        facts_table(shown.facts),
        *chart,
        *meaning,
        *scored_text(shown.found, tokenizer),
    )


def _overview(shown: Sequence[ShownDetection]) -> Html:
    """A row for each text, with a link to its section."""
    head = (element("th", text(name), scope="col") for name in ("text", "verdict", "p-value"))
    rows = (
        element(
            "tr",
            element("td", element("a", text(one.name), href=f"#{_anchor(number)}")),
            element("td", text(one.said.short(one.verdict)), class_=f"sign {one.said.kind}"),
            element("td", text(probability(one.p_value))),
        )
        for number, one in enumerate(shown, 1)
    )
    return element("table", element("tr", *head), *rows, class_="overview")


def _anchor(number: int) -> str:
    return f"text-{number}"
