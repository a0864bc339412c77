"""Detections for the terminal: one text with all its numbers, or several with a row each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ..watermarking import Detection
from .detection_facts import detection_facts, probability
from .visible import visible

_STYLES = {"watermarked": "bold green", "watermarked in part": "bold yellow"}


def detection_table(found: Sequence[tuple[str, Detection]]) -> RenderableType:
    """What was found in each text, given with its name.

    The segment is shown where it decides, which is where a text is watermarked in part. A column
    that would be empty is left out.
    """
    if len(found) == 1:
        return _single(found[0][1])
    columns: list[tuple[str, Callable[[Detection], str]]] = [
        ("p-value", lambda found: probability(found.p_value)),
        ("strength", lambda found: f"{found.strength:.2f}"),
        ("scored", lambda found: str(found.scored)),
        ("green", lambda found: "" if found.green is None else str(found.green)),
        ("tokens", lambda found: str(found.tokens)),
        ("segment", _place),
    ]
    columns = [each for each in columns if any(each[1](detection) for _, detection in found)]
    names = sorted({detection.looked_for for _, detection in found} - {""})
    caption = Text(f"looked for: {'; '.join(names)}") if names else None
    table = Table(
        box=None, pad_edge=False, header_style="bold", caption=caption, caption_justify="left"
    )
    table.add_column("text", overflow="fold")
    table.add_column("verdict")
    for title, _ in columns:
        table.add_column(title, justify="right")
    for name, detection in found:
        cells = [Text(cell(detection)) for _, cell in columns]
        table.add_row(Text(visible(name)), _verdict(detection), *cells)
    return table


def _single(found: Detection) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_row(Text("verdict", style="bold"), _verdict(found))
    for name, value in detection_facts(found):
        if name != "best segment" or _in_part(found):
            grid.add_row(Text(name, style="bold"), Text(value))
    return grid


def _verdict(found: Detection) -> Text:
    return Text(found.verdict, style=_STYLES.get(found.verdict, ""))


def _in_part(found: Detection) -> bool:
    return found.verdict == "watermarked in part"


def _place(found: Detection) -> str:
    return f"{found.segment.begin}-{found.segment.end - 1}" if _in_part(found) else ""
