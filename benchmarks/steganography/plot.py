"""The plot: what is carried, changed, lost and spent, by the number of candidates per step."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks._harness.number_format import duration
from benchmarks._harness.report import nothing_to_draw
from benchmarks._harness.style import (
    LINE_STYLES,
    clear_frame,
    legend_with_title,
    new_figure,
    save_figure,
)
from benchmarks._harness.types import JsonObject

from .plan import ARITHMETIC, NAIVE, STEPWISE
from .summary import comparison, sample_count_range

_SHIFT = 1.06  # each line is drawn this factor to the right of the last, so that none hides another
_ROUND_SECONDS = [first * 10.0**n for n in range(-7, 4) for first in (1, 2, 5)]
_MOST_LABELS = 7  # that an axis has room for

_TIME = {"embed_seconds_per_token": "Time per token outside the model, writing"}
_OF_DISAMBIGUATIONS = {
    "bits_per_token": "Bits per token",
    "kl_filter": "Divergence by filtering, bits per token",
    "misread_rate": "Texts misread, and 95 % interval",
    **_TIME,
}
_OF_CODECS = {"utilisation": "Bits carried per bit of entropy", **_TIME}


def plot(report: JsonObject, file: Path) -> None:
    """Draw a report. The file's ending chooses the format.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SettingsError: no text was written.
    """
    settings = report["settings"]
    cells = [cell for cell in report["cells"] if cell["sample_count"] > cell["failure_count"]]
    if not cells:
        raise nothing_to_draw("no text was written")
    figure = new_figure(14, 7.5)
    halves: Any = figure.subfigures(1, 2, width_ratios=(2, 1))
    left, right = halves
    title = f"Disambiguations with {ARITHMETIC} coding"
    _draw(left, 2, title, _OF_DISAMBIGUATIONS, comparison(cells, "disambiguation"))
    title = f"Codecs with {STEPWISE} verification"
    _draw(right, 1, title, _OF_CODECS, comparison(cells, "codec"))
    figure.supxlabel(
        f"candidates per step (top-k); {settings['model']}, texts of {settings['bits']} bits, "
        f"{sample_count_range(cells)} of each kind, one core of: {report['machine']['processor']}",
        fontsize=10,
    )
    save_figure(figure, file)


def _draw(
    figure: Any,
    across: int,
    title: str,
    panels: Mapping[str, str],
    lines: Mapping[str, Mapping[int, JsonObject]],
) -> None:
    """Draw two rows of panels, `across` in each, and a legend above them."""
    grid = figure.subplots(2, across, squeeze=False).flat
    top_k = sorted({k for by_top_k in lines.values() for k in by_top_k})
    for axes, (name, heading) in zip(grid, panels.items(), strict=True):
        axes.set_title(heading, fontsize=10, loc="left")
        if name in _TIME:
            axes.set_yscale("log")
        for n, (label, by_top_k) in enumerate(lines.items()):
            # Both kinds of stepwise verification write the same texts; only their times differ.
            if label != NAIVE or name in _TIME:
                colour, marker = LINE_STYLES[n % len(LINE_STYLES)]
                look = {"color": colour, "marker": marker, "label": label}
                shift = _SHIFT ** (n - (len(lines) - 1) / 2)
                _line(axes, name, shift, by_top_k.values(), look)
        _scale(axes, name, top_k)
    handles, labels = axes.get_legend_handles_labels()
    legend_with_title(
        figure,
        handles,
        labels,
        title,
        ncols=5 * across,
        columnspacing=0.9,
        handlelength=1.3,
        handletextpad=0.5,
        title_fontproperties={"weight": "bold", "size": 11},
    )


def _line(
    axes: Any, name: str, shift: float, cells: Collection[JsonObject], look: JsonObject
) -> None:
    look = look | {"markersize": 5, "linewidth": 1.4}
    x = [cell["top_k"] * shift for cell in cells]
    values = [cell[name] for cell in cells]
    if name != "misread_rate":
        axes.plot(x, values, **look)
        return
    below = [rate["value"] - rate["low"] for rate in values]
    above = [rate["high"] - rate["value"] for rate in values]
    axes.errorbar(x, [rate["value"] for rate in values], [below, above], capsize=2, **look)


def _scale(axes: Any, name: str, top_k: Sequence[int]) -> None:
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415  # an extra

    axes.set_xscale("log", base=2)
    every = 1 + len(top_k) // _MOST_LABELS
    axes.set_xticks(top_k, ["" if n % every else f"{k:,}" for n, k in enumerate(top_k)])
    low, high = axes.get_ylim()
    if name in _TIME:
        ticks = _ROUND_SECONDS[
            bisect_right(_ROUND_SECONDS, low) - 1 : bisect_left(_ROUND_SECONDS, high) + 1
        ]
        axes.set_yticks(ticks, map(duration, ticks))
        axes.set_ylim(ticks[0], ticks[-1])
    else:
        axes.set_ylim(bottom=min(0, low))
    if name == "misread_rate":
        axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.minorticks_off()
    clear_frame(axes)
