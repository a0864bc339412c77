"""A figure of how often watermarks are found, by the length of texts. It needs matplotlib."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

from ..evaluation import ALL, Calibration, CalibrationCell

_APART = 1.025  # lines that would lie on each other


def calibration_figure(found: Calibration, kind: str) -> bytes:
    """The content of a file: one panel for texts without a watermark, one for those with.

    Args:
        found: what to draw, of all configurations together.
        kind: `svg` or `png`.
    """
    kinds = sorted({cell.marked for cell in found.cells})
    figure = Figure(figsize=(5 * len(kinds), 3.6), layout="constrained")
    for at, is_marked in enumerate(kinds, 1):
        axes = figure.add_subplot(1, len(kinds), at)
        cells = [c for c in found.cells if c.marked == is_marked and c.configuration == ALL]
        thresholds = sorted({cell.threshold for cell in cells}, reverse=True)
        for number, threshold in enumerate(thresholds):
            _draw(axes, [cell for cell in cells if cell.threshold == threshold], _APART**number)
        axes.set_title("texts with a watermark" if is_marked else "texts without a watermark")
        axes.set_xlabel("tokens")
        axes.set_ylabel("share that is found")
        axes.set_xscale("log")
        lengths = sorted({cell.length for cell in cells})
        axes.set_xticks(lengths, list(map(str, lengths)))
        axes.minorticks_off()
        if is_marked:
            axes.set_ylim(-0.02, 1.02)
        else:
            axes.set_yscale("symlog", linthresh=1e-4)
            axes.set_ylim(0, 1)
        axes.legend(title="threshold", fontsize="small", frameon=False)
    file = BytesIO()
    # Without the time, so that the same numbers give the same file.
    figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else {})
    return file.getvalue()


def _draw(axes: object, cells: list[CalibrationCell], aside: float) -> None:
    """One line with its 95 % intervals, a little to the right of those before it."""
    rates = [cell.rate for cell in cells]
    below = [r.value - r.low for r in rates]
    above = [r.high - r.value for r in rates]
    axes.errorbar(  # type: ignore[attr-defined]  # matplotlib's Axes, whose types are not installed
        [cell.length * aside for cell in cells],
        [r.value for r in rates],
        [below, above],
        label=f"{cells[0].threshold:g}",
        marker="o",
        markersize=3,
        capsize=2,
        linewidth=1,
    )
