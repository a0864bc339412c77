"""The curves: messages read against the share of edited tokens."""

from __future__ import annotations

from pathlib import Path

from benchmarks._harness.style import LINE_STYLES, clear_frame, new_figure, save_figure
from benchmarks._harness.types import JsonObject


def draw(report: JsonObject, file: Path) -> None:
    """Draw the curves of all ways in which a message could be sent.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    figure = new_figure(7.5, 4.2)
    axes = figure.subplots()
    ways = [way for way in report["ways"] if way["texts"]]
    for way, (colour, marker) in zip(ways, LINE_STYLES, strict=False):
        name = "no window" if not way["window"] else f"window {way['window']}, {way['edits']:.0%}"
        axes.plot(
            [100 * share for share in report["settings"]["shares"]],
            [100 * read / way["texts"] for read in way["read"]],
            color=colour,
            marker=marker,
            label=f"{name}: {way['message_bits_per_token']:.2f} bits per token",
        )
    axes.set_xlabel("edited tokens, %")
    axes.set_ylabel("messages read, %")
    clear_frame(axes)
    if ways:
        axes.legend(frameon=False, fontsize=9, title="Written for edits of", alignment="left")
    save_figure(figure, file)
