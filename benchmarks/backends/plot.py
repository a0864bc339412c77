"""Robustness as a picture: how often messages are misread, by how far off logits are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.drawing import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION, new_figure
from benchmarks.workers import Found
from ticore.errors import SettingsError

from .plan import PORTABLE

_COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE)


def plot(found: Found, file: Path) -> None:
    """Draw the robustness that `figures` gives, codec by codec. The file's ending is the format.

    Raises MissingExtraError without matplotlib, SettingsError if there is nothing to draw.
    """
    cells, noises = found["robustness"], found["settings"]["noises"]
    if not cells:
        raise SettingsError("there is nothing to draw: no text was written")
    codecs = list(dict.fromkeys(cell["codec"] for cell in cells))
    kinds = sorted({_kind(cell) for cell in cells})
    figure = new_figure(2.6 * len(codecs) + 1, 3.2)
    panels: Any = figure.subplots(1, len(codecs), sharey=True, squeeze=False)[0]
    for codec, axes in zip(codecs, panels, strict=True):
        for cell in (cell for cell in cells if cell["codec"] == codec):
            kind = _kind(cell)
            axes.plot(
                noises,
                [100 * rate["value"] for rate in cell["misread"]],
                color=BLACK if cell["numerics"] == PORTABLE else _COLOURS[kinds.index(kind) - 1],
                linestyle="--" if cell["numerics"] == PORTABLE else "-",
                marker="o",
                markersize=2.5,
                linewidth=1.2,
                label=kind[1],
            )
        axes.set_title(codec)
        axes.set_xscale("log")
        axes.set_xticks(noises[1::4])
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("messages misread, %")
    panels[0].legend(fontsize=8)
    figure.supxlabel("how far off the reader's logits are at most", fontsize=10)
    figure.savefig(file)


def _kind(cell: Found) -> tuple[int, str]:
    """What a line stands for: portable comes first, then the finest grid."""
    if cell["numerics"] == PORTABLE:
        return -99, f"2^-{cell['grid_bits']}, portable, sealed"
    return -cell["grid_bits"], f"2^-{cell['grid_bits']}"
