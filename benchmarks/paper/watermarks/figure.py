"""The figure of the observation period: what rollback gains and costs as it waits longer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from benchmarks._harness.style import LINE_STYLES, clear_frame, new_figure
from benchmarks.paper.stand_ins import StandIn

from .arms import ABLATED, OBSERVATIONS, SAMPLING, rollback

if TYPE_CHECKING:
    from benchmarks._harness.types import JsonObject

_PANELS = {
    "strength": "strength",
    "perplexity": "perplexity, as read",
    "rollbacks": "rollbacks per text",
    "time": "time, by that without rollback",
}


def draw_observations(summaries: Mapping[StandIn, JsonObject]) -> Any:
    """A panel for each measure, a line for each model; dashed where nothing is rolled back."""
    figure = new_figure(8, 6)
    panels = figure.subplots(2, 2).flat
    for (name, label), axes in zip(_PANELS.items(), panels, strict=True):
        for (model, found), (colour, marker) in zip(summaries.items(), LINE_STYLES, strict=False):
            cells = {
                cell["arm"]: cell
                for cell in found["cells"]
                if cell["scheme"] == ABLATED and cell["attack"] is None
            }
            style = {"color": colour, "marker": marker}
            _draw_line(axes, cells, name, model.place, style)
        axes.set_xticks(range(len(OBSERVATIONS)), [str(q) for q in OBSERVATIONS])
        axes.set_xlabel("observation period q, tokens")
        axes.set_ylabel(label)
        clear_frame(axes)
    axes.legend(frameon=False, fontsize=9)
    return figure


def _draw_line(
    axes: Any, cells: Mapping[str, JsonObject], name: str, label: str, style: Mapping[str, str]
) -> None:
    """The points that were measured, evenly spaced, with their intervals."""
    known = [
        (at, found)
        for at, q in enumerate(OBSERVATIONS)
        if (found := cells.get(rollback(q).name, {}).get(name)) is not None
    ]
    values = [found["value"] for _, found in known]
    ends = [  # rounding may take a bound past the value
        [max(0.0, found["value"] - found["low"]) for _, found in known],
        [max(0.0, found["high"] - found["value"]) for _, found in known],
    ]
    axes.errorbar([at for at, _ in known], values, ends, capsize=3, label=label, **style)
    plain = cells.get(SAMPLING.name, {}).get(name)
    if plain is not None:
        axes.axhline(plain["value"], color=style["color"], linestyle="--", linewidth=0.9)
