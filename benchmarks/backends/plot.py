"""The plot: how often messages are misread, by the noise in the reader's logits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks._harness.report import nothing_to_draw
from benchmarks._harness.style import (
    BLACK,
    LINE_STYLES,
    clear_frame,
    new_figure,
    save_figure,
)
from benchmarks._harness.types import JsonObject

from .plan import PORTABLE

_COLOURS = [colour for colour, _ in LINE_STYLES if colour != BLACK]


def plot(report: JsonObject, file: Path) -> None:
    """Draw the robustness part of a report, a panel per codec.

    The file's ending chooses the format.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SettingsError: no text was written.
    """
    cells, noise_levels = report["robustness"], report["settings"]["noise_levels"]
    if not cells:
        raise nothing_to_draw("no text was written for the part 'robustness'")
    codecs = list(dict.fromkeys(cell["codec"] for cell in cells))
    kinds = sorted({_kind(cell) for cell in cells})
    figure = new_figure(2.6 * len(codecs) + 1, 3.2)
    panels: Any = figure.subplots(1, len(codecs), sharey=True, squeeze=False)[0]
    for codec, axes in zip(codecs, panels, strict=True):
        for cell in (cell for cell in cells if cell["codec"] == codec):
            kind = _kind(cell)
            portable = cell["numerics"] == PORTABLE
            axes.plot(
                noise_levels,
                [100 * rate["value"] for rate in cell["misread"]],
                color=BLACK if portable else _COLOURS[kinds.index(kind) - 1],
                linestyle="--" if portable else "-",
                marker="o",
                markersize=2.5,
                linewidth=1.2,
                label=kind[1],
            )
        axes.set_title(codec)
        axes.set_xscale("log")
        axes.set_xticks(noise_levels[1::4])
        clear_frame(axes)
    panels[0].set_ylabel("messages misread, %")
    panels[0].legend(fontsize=8)
    figure.supxlabel("noise in the reader's logits, at most", fontsize=10)
    save_figure(figure, file)


def _kind(cell: JsonObject) -> tuple[int, str]:
    """The order and the label of a line: portable numerics first, then the finest grid."""
    if cell["numerics"] == PORTABLE:
        return -99, f"2^-{cell['grid_bits']}, portable, sealed"
    return -cell["grid_bits"], f"2^-{cell['grid_bits']}"
