"""The figures of hidden messages: what each method carries and changes with more candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks._harness.style import (
    BLUE,
    GREEN,
    LINE_STYLES,
    VERMILION,
    clear_frame,
    new_figure,
)
from benchmarks.paper.stand_ins import StandIn

from .plan import METHODS, OF_THE_PAPER
from .summary import PARTS

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

Summaries = Mapping[StandIn, "JsonObject"]


def draw_bits_per_token(summaries: Summaries) -> Any:
    """Bits per token against k: a panel for each model, a line for each method."""
    figure = new_figure(1 + 3.5 * len(summaries), 3.6)
    panels = figure.subplots(1, len(summaries), sharey=True, squeeze=False)[0]
    for axes, (model, found) in zip(panels, summaries.items(), strict=True):
        for method, (colour, marker) in zip(METHODS, LINE_STYLES, strict=False):
            if not (cells := _of(found, method)):
                continue
            axes.plot(
                [cell["k"] for cell in cells],
                [cell["bpt"]["value"] for cell in cells],
                color=colour,
                marker=marker,
                markersize=4,
                label=method,
            )
        _finish(axes, model.place)
    panels[0].set_ylim(bottom=0)  # of all, so not before all are drawn
    panels[0].set_ylabel("bits per token")
    panels[0].legend(frameon=False, fontsize=9)
    return figure


def draw_divergence(summaries: Summaries) -> Any:
    """Divergence against k in its parts: models are rows, methods columns.

    These are those of the paper; where none of them was taken, later ones whose parts are known.
    """
    known = [
        method
        for method in METHODS
        if any(_of_known_divergence(found, method) for found in summaries.values())
    ]
    methods = [method for method in known if method in OF_THE_PAPER] or known or OF_THE_PAPER
    shape = len(summaries), len(methods)
    figure = new_figure(2.2 * shape[1], 0.6 + 2.2 * shape[0])
    panels = figure.subplots(*shape, sharex=True, sharey="row", squeeze=False)
    areas: Sequence[Any] = ()
    for row, (model, found) in zip(panels, summaries.items(), strict=True):
        for axes, method in zip(row, methods, strict=True):
            if cells := _of_known_divergence(found, method):
                areas = axes.stackplot(
                    [cell["k"] for cell in cells],
                    # What rounding leaves below 0 is not drawn.
                    [[max(0.0, cell["kl"][part]["value"]) for cell in cells] for part in PARTS],
                    colors=(BLUE, VERMILION, GREEN),
                )
            _finish(axes, method)
        row[0].set_ylim(bottom=0)  # of the whole row, so not before all are drawn
        row[0].set_ylabel(f"{model.place}\nbits per token")
    if areas:
        figure.legend(areas, PARTS, loc="outside upper left", ncols=len(PARTS), frameon=False)
    return figure


def _of(found: JsonObject, method: str) -> Sequence[JsonObject]:
    """The cells of a method that have texts, by k."""
    cells = [cell for cell in found["cells"] if cell["method"] == method and "bpt" in cell]
    return sorted(cells, key=lambda cell: int(cell["k"]))


def _of_known_divergence(found: JsonObject, method: str) -> Sequence[JsonObject]:
    """The cells of a method whose divergence is known in all its parts, by k."""
    return [cell for cell in _of(found, method) if all(cell["kl"][part] for part in PARTS)]


def _finish(axes: Any, title: str) -> None:
    axes.set_title(title, fontsize=10)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("k")
    clear_frame(axes)
