"""What was found of many configurations: for the terminal, and as a web page."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.text import Text

from .._support.visible import visible
from ..interfaces import Tokenizer
from ..watermarking import AnyDetection
from ._detection_facts import (
    payload_facts,
    probability,
    stretch_facts,
    tokenization_facts,
    too_short_fact,
)
from ._detection_page import ShownDetection, page_of
from ._detection_table import styled_verdict
from ._tables import facts_grid, plain_table
from ._verdict import said_of_any

_MOST_SHOWN = 20  # configurations that are found; all are in the JSON


def any_detection_facts(found: AnyDetection) -> list[tuple[str, str]]:
    """Names and values for a person, without the verdict."""
    best = found.best.detection
    count = f"{found.configurations:,} configuration{'' if found.configurations == 1 else 's'}"
    facts = [("p-value", f"{probability(found.p_value)}, corrected for {count}")]
    for one in found.found[:_MOST_SHOWN]:
        facts.append(("found", f"{one.name}; p-value {probability(one.p_value)}, corrected"))
    if len(found.found) > _MOST_SHOWN:
        facts.append(("found", f"and {len(found.found) - _MOST_SHOWN:,} more"))
    if not found.found:
        facts.append(("best", found.best.name))
    facts.append(("scored", f"{best.scored:,} of {best.token_count:,} tokens"))
    if found.too_short:
        facts.append(too_short_fact(found.least_p_value))
    elif found.too_short_for and not found.found:
        facts.append(("too short", f"for {found.too_short_for:,} of them"))
    if found.found and best.payload is not None:
        facts += payload_facts(best.payload)
    if best.tokenizations is not None:
        facts += tokenization_facts(best.tokenizations, best.scored)
    named = [fact for fact in best.target.facts() if fact[0] in ("tokenizer", "threshold")]
    return [*facts, *stretch_facts(found.stretches), *named]


def any_detection_table(found: Sequence[tuple[str, AnyDetection]]) -> RenderableType:
    """All numbers of one text, or a row for each of several.

    Args:
        found: the texts' names, with what was found in each by one detector.

    Returns:
        What `rich.console.Console.print` shows.
    """
    if len(found) == 1:
        ((_, one),) = found
        return facts_grid([("verdict", styled_verdict(one.verdict)), *any_detection_facts(one)])
    table = plain_table()
    table.add_column("text", overflow="fold")
    table.add_column("verdict")
    table.add_column("p-value", justify="right")
    table.add_column("stretches", justify="right")
    table.add_column("configuration", overflow="fold")
    for name, one in found:
        names = ", ".join(each.name for each in one.found[:2]) + (" ..." if one.found[2:] else "")
        cells = [probability(one.p_value), str(len(one.stretches)), visible(names)]
        verdict = styled_verdict(said_of_any(one).short(one.verdict))
        table.add_row(Text(visible(name)), verdict, *map(Text, cells))
    return table


def any_detection_page(
    found: Sequence[tuple[str, AnyDetection]], tokenizer: Tokenizer, title: str, warning: str = ""
) -> str:
    """A web page with a section for each text; its tokens are in the colours of the best one.

    Args:
        found: the texts' names, with what was found in each.
        tokenizer: the detector's.
        title: plain text.
        warning: plain text, about all of the texts.

    Returns:
        An HTML document without scripts, which fetches nothing.
    """
    return page_of([shown_any_detection(*each) for each in found], tokenizer, title, warning)


def shown_any_detection(name: str, found: AnyDetection) -> ShownDetection:
    """A list of configurations was looked for in a text; its colours are those of the best one."""
    return ShownDetection(
        name,
        said_of_any(found),
        found.verdict,
        found.p_value,
        any_detection_facts(found),
        found.best.detection,
        found.stretches,
    )
