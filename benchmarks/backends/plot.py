"""Robustness as a picture: how often messages are misread, by how far off logits are."""

from __future__ import annotations

from pathlib import Path

from benchmarks.drawing import BLACK, BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, new_figure
from benchmarks.workers import Found
from ticore.errors import SettingsError

from .plan import PORTABLE

_COLOURS = (BLUE, VERMILION, GREEN, PURPLE, BLACK, ORANGE, SKY)
_DASHES = ("-", "--", ":", "-.")


def plot(found: Found, file: Path) -> None:
    """Draw the robustness that `figures` gives. The file's ending chooses the format.

    Raises MissingExtraError without matplotlib, SettingsError if there is nothing to draw.
    """
    cells, noises = found["robustness"], found["settings"]["noises"]
    if not cells:
        raise SettingsError("there is nothing to draw: no text was written")
    figure = new_figure(8, 5)
    axes = figure.subplots()
    codecs = list(dict.fromkeys(cell["codec"] for cell in cells))
    grids = sorted({cell["grid_bits"] for cell in cells}, reverse=True)
    for cell in cells:
        portable = cell["numerics"] == PORTABLE
        axes.plot(
            noises,
            [100 * rate["value"] for rate in cell["misread"]],
            color=_COLOURS[codecs.index(cell["codec"]) % len(_COLOURS)],
            linestyle=_DASHES[grids.index(cell["grid_bits"]) % len(_DASHES)],
            marker="o" if portable else "",
            markersize=4,
            linewidth=1.2,
            label=f"{cell['codec']}, 2^-{cell['grid_bits']}{', portable' if portable else ''}",
        )
    axes.set_xscale("log")
    axes.set_xlabel("how far off the reader's logits are at most")
    axes.set_ylabel("messages misread, %")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, ncols=2)
    figure.savefig(file)
