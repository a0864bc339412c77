"""The plot: seconds for a mask of the whole vocabulary, by tokens of history."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from benchmarks._harness.number_format import duration
from benchmarks._harness.report import nothing_to_draw
from benchmarks._harness.style import (
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    clear_frame,
    legend_with_title,
    new_figure,
    save_figure,
)
from benchmarks._harness.types import JsonObject

from .retokenizing import PAPER, RETOKENIZE, SUFFIX

_LINES = (
    (PAPER, "the paper's method: retokenize the text", VERMILION, "s"),
    (RETOKENIZE, "retokenize the text, in this mode", PURPLE, "X"),
    (SUFFIX, "suffix: retokenize from a stable cut", ORANGE, "^"),
    ("mask_new_tail", "table, asked first, new tail", SKY, "D"),
    ("mask_new_token", "table, asked first, new last token", BLUE, "o"),
    ("mask_repeated", "table, asked again", GREEN, "v"),
)
_ACROSS = 3


def plot(report: JsonObject, file: Path) -> None:
    """Draw a panel for each tokenizer and mode. The file's ending chooses the format.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SettingsError: no tokenizer was measured.
    """
    panels = [
        (f"{tokenizer['name']}, {tokenizer['vocab_size']:,} ids, {mode}", in_mode["lengths"])
        for tokenizer in report["tokenizers"]
        for mode, in_mode in tokenizer.get("modes", {}).items()
    ]
    if not panels:
        raise nothing_to_draw("no tokenizer was measured")
    across = min(_ACROSS, math.ceil(math.sqrt(len(panels))))
    down = math.ceil(len(panels) / across)
    figure = new_figure(max(7.0, 1.2 + 3.6 * across), 1.5 + 3.1 * down)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    handles: dict[str, Any] = {}
    for axes, (title, lengths) in zip(grid.flat, panels, strict=False):
        axes.set_title(title, fontsize=10, loc="left")
        axes.set_xscale("log")
        axes.set_yscale("log")
        for name, label, colour, marker in _LINES:
            points = _points(lengths, name)
            if points:
                x, y = zip(*points, strict=True)
                (line,) = axes.plot(x, y, marker=marker, color=colour, label=label, linewidth=1.6)
                handles.setdefault(label, line)
        _scale(axes, lengths)
    for axes in grid.flat[len(panels) :]:
        axes.set_visible(False)
    labels = [label for _, label, _, _ in _LINES if label in handles]
    legend_with_title(
        figure,
        [handles[label] for label in labels],
        labels,
        "Time for a mask of the whole vocabulary, median",
        ncols=across,
        title_fontproperties={"weight": "bold", "size": 12},
    )
    scaled = "" if report["settings"]["full"] else "; retokenizing is scaled from a sample of ids"
    processor = report["machine"]["processor"]
    figure.supxlabel(f"tokens of history, on one core of: {processor}{scaled}", fontsize=10)
    save_figure(figure, file)


def _scale(axes: Any, lengths: JsonObject) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: PLC0415  # extra

    axes.set_xticks([int(n) for n in lengths], [f"{int(n):,}" for n in lengths])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    axes.yaxis.set_major_locator(LogLocator(numticks=20))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda seconds, _: duration(seconds)))
    axes.tick_params(labelbottom=True)  # also above another panel, or above none
    clear_frame(axes)


def _points(lengths: JsonObject, name: str) -> list[tuple[int, float]]:
    """Tokens of history and median seconds."""
    points = []
    for length, here in lengths.items():
        if name.startswith("mask_"):
            times = here.get("table", {}).get(name, {}).get("all")
        else:
            times = here.get(name, {}).get("mask")
        if times:
            points.append((int(length), times["median"]))
    return points
