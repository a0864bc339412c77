"""A figure of how often watermarks are found, by the length of texts. It needs matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

from matplotlib.figure import Figure

from ..evaluation import ALL, Calibration, CalibrationCell
from ..evaluation._entropies import bits_said

_APART = 1.025  # lines that would lie on each other


def calibration_figure(found: Calibration, kind: str) -> bytes:
    """The content of a file: one panel for texts without a watermark, one for those with.

    Args:
        found: what to draw, of all configurations together.
        kind: `svg` or `png`.
    """
    kinds = sorted({cell.marked for cell in found.cells})
    panels = len(kinds) + bool(found.by_entropy)
    figure = Figure(figsize=(5 * panels, 3.6), layout="constrained")
    for at, is_marked in enumerate(kinds, 1):
        axes = figure.add_subplot(1, panels, at)
        cells = [c for c in found.cells if c.marked == is_marked and c.configuration == ALL]
        thresholds = sorted({cell.threshold for cell in cells}, reverse=True)
        for number, threshold in enumerate(thresholds):
            _draw(axes, [cell for cell in cells if cell.threshold == threshold], _APART**number)
        axes.set_title("texts with a watermark" if is_marked else "texts without a watermark")
        axes.set_ylabel("share that is found")
        _set_lengths(axes, cells)
        if is_marked:
            axes.set_ylim(-0.02, 1.02)
        else:
            axes.set_yscale("symlog", linthresh=1e-4)
            axes.set_ylim(0, 1)
        axes.legend(title="threshold", fontsize="small", frameon=False)
    if found.by_entropy:
        _draw_entropies(figure.add_subplot(1, panels, panels), found.by_entropy)
    file = BytesIO()
    # Without the time, so that the same numbers give the same file.
    figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else {})
    return file.getvalue()


def _draw_entropies(axes: Any, by_entropy: Sequence[CalibrationCell]) -> None:
    """A line for each entropy, at the lowest threshold."""
    threshold = min(cell.threshold for cell in by_entropy)
    cells = [cell for cell in by_entropy if cell.threshold == threshold]
    for number, bucket in enumerate(dict.fromkeys(cell.entropy for cell in cells)):
        assert bucket is not None
        of_bucket = [cell for cell in cells if cell.entropy == bucket]
        _draw(axes, of_bucket, _APART**number, bits_said(bucket))
    axes.set_title(f"found at {threshold:g}, by entropy")
    _set_lengths(axes, cells)
    axes.set_ylim(-0.02, 1.02)
    axes.legend(fontsize="small", frameon=False)


def _set_lengths(axes: Any, cells: Sequence[CalibrationCell]) -> None:
    """An axis of lengths, with a mark at each that was measured."""
    axes.set_xlabel("tokens")
    axes.set_xscale("log")
    lengths = sorted({cell.length for cell in cells})
    axes.set_xticks(lengths, list(map(str, lengths)))
    axes.minorticks_off()


def _draw(axes: Any, cells: list[CalibrationCell], aside: float, label: str = "") -> None:
    """One line with its 95 % intervals, a little to the right of those before it."""
    rates = [cell.rate for cell in cells]
    below = [r.value - r.low for r in rates]
    above = [r.high - r.value for r in rates]
    axes.errorbar(
        [cell.length * aside for cell in cells],
        [r.value for r in rates],
        [below, above],
        label=label or f"{cells[0].threshold:g}",
        marker="o",
        markersize=3,
        capsize=2,
        linewidth=1,
    )
