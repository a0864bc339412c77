"""Figures as a picture: what is carried, changed, lost and spent, by the number of candidates."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.drawing import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, new_figure
from benchmarks.spread import duration
from benchmarks.workers import Found
from ticore.errors import SettingsError

from .figures import compared, how_many
from .plan import ARITHMETIC, NAIVE, STEPWISE

_LOOKS = (
    (BLUE, "o"),
    (VERMILION, "s"),
    (GREEN, "^"),
    (PURPLE, "D"),
    (BLACK, "v"),
    (ORANGE, "X"),
    (SKY, "P"),
    (GREY, "*"),
)
_APART = 1.06  # times as many candidates from line to line, so that none hides another
_ROUND = [first * 10.0**n for n in range(-7, 4) for first in (1, 2, 5)]  # seconds, on an axis
_MOST_LABELS = 7  # that an axis has room for

_TIME = {"writing": "Time a token outside the model, writing"}
_OF_DISAMBIGUATIONS = {
    "bits_per_token": "Bits a token",
    "kl_filter": "Divergence by filtering, bits a token",
    "errors": "Texts misread, and 95 % interval",
    **_TIME,
}
_OF_CODECS = {"utilisation": "Bits carried by a bit of entropy", **_TIME}


def plot(found: Found, file: Path) -> None:
    """Draw what `figures` gives. The file's ending chooses the format.

    Raises MissingExtraError without matplotlib, SettingsError if there is nothing to draw.
    """
    settings = found["settings"]
    cells = [cell for cell in found["cells"] if cell["samples"] > cell["failed"]]
    if not cells:
        raise SettingsError("there is nothing to draw: no text was written")
    figure = new_figure(14, 7.5)
    halves: Any = figure.subfigures(1, 2, width_ratios=(2, 1))
    left, right = halves
    title = f"Disambiguations, with {ARITHMETIC} coding"
    _draw(left, 2, title, _OF_DISAMBIGUATIONS, compared(cells, "disambiguation"))
    title = f"Codecs, with {STEPWISE} verification"
    _draw(right, 1, title, _OF_CODECS, compared(cells, "codec"))
    figure.supxlabel(
        f"candidates a step (top-k); {settings['place']}, texts of {settings['bits']} bits, "
        f"{how_many(cells)} of each kind, each on one core of: {found['machine']['processor']}",
        fontsize=10,
    )
    figure.savefig(file, dpi=160)


def _draw(
    figure: Any,
    across: int,
    title: str,
    panels: Mapping[str, str],
    lines: Mapping[str, Mapping[int, Found]],
) -> None:
    """Panels in rows of `across`, and above them what their lines are."""
    grid = figure.subplots(2, across, squeeze=False).flat
    top_k = sorted({k for by_top_k in lines.values() for k in by_top_k})
    for axes, (name, heading) in zip(grid, panels.items(), strict=True):
        axes.set_title(heading, fontsize=10, loc="left")
        if name in _TIME:
            axes.set_yscale("log")
        for n, (label, by_top_k) in enumerate(lines.items()):
            # Both ways of stepwise verification are the same, but for the time they take.
            if label != NAIVE or name in _TIME:
                colour, sign = _LOOKS[n % len(_LOOKS)]
                look = {"color": colour, "marker": sign, "label": label}
                shift = _APART ** (n - (len(lines) - 1) / 2)
                _line(axes, name, shift, by_top_k.values(), look)
        _scale(axes, name, top_k)
    figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside upper left",
        ncols=5 * across,
        columnspacing=0.9,
        handlelength=1.3,
        handletextpad=0.5,
        frameon=False,
        fontsize=9,
        title=title,
        alignment="left",
        title_fontproperties={"weight": "bold", "size": 11},
    )


def _line(axes: Any, name: str, shift: float, cells: Collection[Found], look: Found) -> None:
    look = look | {"markersize": 5, "linewidth": 1.4}
    x = [cell["top_k"] * shift for cell in cells]
    values = [cell[name] for cell in cells]
    if name != "errors":
        axes.plot(x, values, **look)
        return
    below = [rate["value"] - rate["low"] for rate in values]
    above = [rate["high"] - rate["value"] for rate in values]
    axes.errorbar(x, [rate["value"] for rate in values], [below, above], capsize=2, **look)


def _scale(axes: Any, name: str, top_k: Sequence[int]) -> None:
    from matplotlib.ticker import PercentFormatter  # noqa: PLC0415

    axes.set_xscale("log", base=2)
    apart = 1 + len(top_k) // _MOST_LABELS
    axes.set_xticks(top_k, ["" if n % apart else f"{k:,}" for n, k in enumerate(top_k)])
    low, high = axes.get_ylim()
    if name in _TIME:
        ticks = _ROUND[bisect_right(_ROUND, low) - 1 : bisect_left(_ROUND, high) + 1]
        axes.set_yticks(ticks, map(duration, ticks))
        axes.set_ylim(ticks[0], ticks[-1])
    else:
        axes.set_ylim(bottom=min(0, low))
    if name == "errors":
        axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.minorticks_off()
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
