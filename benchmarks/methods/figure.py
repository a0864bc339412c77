"""The figure: what a method carries against what it changes, what it costs, and what it loses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks._harness.report import nothing_to_draw
from benchmarks._harness.style import (
    LINE_STYLES,
    clear_frame,
    legend_with_title,
    new_figure,
    save_figure,
)
from benchmarks._harness.types import JsonObject

from .plan import METHODS, Method

_LEAST = 0.01  # bits; less is drawn as this, where a logarithm ends
_PANELS = {
    "divergence_per_text": "divergence, bits per text",
    "writing_and_reading": "ms per token, written and read",
    "given_up": "texts that are given up, %",
}


def draw(report: JsonObject, path: Path) -> None:
    """Draw a row of panels for each model and kind of text. The file's ending chooses the format.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SettingsError: no text was written.
    """
    rows = [row for row in report["methods"] if row["texts"]]
    if not rows:
        raise nothing_to_draw("no text was written")
    lines = list(dict.fromkeys((row["model"], row["kind"]) for row in rows))
    figure = new_figure(11, 1.2 + 2.9 * len(lines))
    grid = figure.subplots(len(lines), len(_PANELS), squeeze=False, sharex="col", sharey="row")
    for (model, kind), line in zip(lines, grid, strict=True):
        of_line = [row for row in rows if (row["model"], row["kind"]) == (model, kind)]
        for axes, name in zip(line, _PANELS, strict=True):
            _points(axes, of_line, name)
        line[0].set_ylabel(f"{model}, {kind}\nbits per token")
    for axes, (name, label) in zip(grid[-1], _PANELS.items(), strict=True):
        axes.set_xlabel(label)
        if name == "divergence_per_text":
            axes.set_xscale("log")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    size = report["settings"]["size"]
    legend_with_title(
        figure,
        handles,
        labels,
        f"Messages of {size} bytes: to the upper left is better",
        ncols=5,
        title_fontproperties={"weight": "bold", "size": 11},
    )
    save_figure(figure, path)


def _points(axes: Any, rows: Sequence[JsonObject], name: str) -> None:
    """One point for each method: half filled for other modes, hollow for other codecs."""
    by_method = {row["method"]: row for row in rows}
    for n, (method, way) in enumerate(METHODS.items()):
        if method not in by_method:
            continue
        colour, marker = LINE_STYLES[n % len(LINE_STYLES)]
        row = by_method[method]
        axes.plot(
            _value(row, name),
            row["bits_per_token"],
            marker=marker,
            color=colour,
            fillstyle=_fill(way),
            linestyle="none",
            label=method,
        )
    axes.set_ylim(bottom=0)
    clear_frame(axes)


def _fill(way: Method) -> str:
    if way.codec != "arithmetic":
        return "none"
    return "full" if way.mode == "prefix" else "left"


def _value(row: JsonObject, name: str) -> float:
    if name == "writing_and_reading":
        return float(row["embed_ms_per_token"] + row["extract_ms_per_token"])
    if name == "given_up":
        return 100 * float(row[name])
    return max(float(row[name]), _LEAST)
