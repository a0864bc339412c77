"""Figures for people: a canvas, and colours that all of them can tell apart."""

from __future__ import annotations

from typing import Any

from ticore.errors import MissingExtraError
from ticore.installing import how_to_install

# Colours of Okabe and Ito, which differ for every kind of colour blindness.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
BLACK, ORANGE, SKY, GREY = "#000000", "#E69F00", "#56B4E9", "#999999"


def new_figure(width: float, height: float) -> Any:
    """An empty figure of so many inches. Raises MissingExtraError without matplotlib."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  # an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"{error}; {how_to_install('plots')}") from error
    return Figure(figsize=(width, height), layout="constrained")
