"""A table of detections for the terminal: all numbers of one text, or a row for each of several."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .._support.visible import visible
from ..watermarking import Detection
from ._detection_facts import detection_facts, probability
from ._tables import facts_grid, plain_table
from ._verdict import said_of

_STYLES = {"watermarked": "bold green", "watermarked in part": "bold yellow"}


def detection_table(found: Sequence[tuple[str, Detection]]) -> RenderableType:
    """A table of what was found in each text.

    The best segment is shown if it decides the verdict, which then is "watermarked in part". Empty
    columns are left out.

    Args:
        found: the texts' names, with what was found in each by one detector.

    Returns:
        What `rich.console.Console.print` shows.
    """
    if len(found) == 1:
        return _single(found[0][1])
    columns: list[tuple[str, Callable[[Detection], str]]] = [
        ("p-value", lambda found: probability(found.p_value)),
        ("strength", lambda found: f"{found.strength:.2f}"),
        ("scored", lambda found: str(found.scored)),
        ("green", lambda found: "" if found.green is None else str(found.green)),
        ("payload", _payload),
        ("tokens", lambda found: str(found.token_count)),
        ("segment", _place),
    ]
    columns = [each for each in columns if any(each[1](detection) for _, detection in found)]
    table = plain_table()
    table.add_column("text", overflow="fold")
    table.add_column("verdict")
    for title, _ in columns:
        table.add_column(title, justify="right")
    for name, detection in found:
        cells = [Text(cell(detection)) for _, cell in columns]
        verdict = styled_verdict(said_of(detection).short(detection.verdict))
        table.add_row(Text(visible(name)), verdict, *cells)
    target = found[0][1].target
    return Group(table, "", facts_grid(target.facts())) if target.scheme else table


def _single(found: Detection) -> Table:
    facts = detection_facts(found)
    facts = [each for each in facts if each[0] != "best segment" or _in_part(found)]
    return facts_grid([("verdict", styled_verdict(found.verdict)), *facts])


def styled_verdict(verdict: str) -> Text:
    """A verdict in its colour."""
    return Text(verdict, style=_STYLES.get(verdict, ""))


def _in_part(found: Detection) -> bool:
    return found.verdict == "watermarked in part"


def _payload(found: Detection) -> str:
    """The payload in hex digits; none without a watermark, since every text gives some bytes."""
    if found.payload is None or found.verdict == "no watermark found":
        return ""
    return found.payload.payload.hex()


def _place(found: Detection) -> str:
    return f"{found.segment.begin}-{found.segment.end - 1}" if _in_part(found) else ""
