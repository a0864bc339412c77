"""The look of plots: colours and markers that everybody can tell apart, and plain axes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ticore._support.installing import require_module

# The palette of Okabe and Ito: its colours differ for every kind of colour blindness.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
BLACK, ORANGE, SKY, GREY = "#000000", "#E69F00", "#56B4E9", "#999999"

LINE_STYLES = (
    (BLUE, "o"),
    (VERMILION, "s"),
    (GREEN, "^"),
    (PURPLE, "D"),
    (BLACK, "v"),
    (ORANGE, "X"),
    (SKY, "P"),
    (GREY, "*"),
)
"""Colour and marker of each line of a plot, in order."""


def new_figure(width: float, height: float) -> Any:
    """An empty figure.

    Args:
        width: in inches.
        height: in inches.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    drawing = require_module("matplotlib.figure", "plots", "a figure")
    return drawing.Figure(figsize=(width, height), layout="constrained")


def clear_frame(axes: Any, grid: str = "both") -> None:
    """Remove the frame's top and right side, and draw a light grid along `grid`: x, y or both."""
    axes.grid(axis=grid, color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def legend_with_title(figure: Any, handles: Any, labels: Any, title: str, **options: Any) -> None:
    """A legend above the panels, with a bold title that names the whole figure."""
    figure.legend(
        handles,
        labels,
        loc="outside upper left",
        frameon=False,
        fontsize=9,
        title=title,
        alignment="left",
        **options,
    )


def save_figure(figure: Any, file: Path) -> None:
    """Write a figure; the file's ending chooses the format."""
    figure.savefig(file, dpi=160)
