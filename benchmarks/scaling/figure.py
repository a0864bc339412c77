"""What each way adds to a step, by the number of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks._harness.report import nothing_to_draw
from benchmarks._harness.style import LINE_STYLES, clear_frame, new_figure, save_figure
from benchmarks._harness.types import JsonObject


def draw(report: JsonObject, file: Path) -> None:
    """Draw a panel for each tokenizer.

    Raises:
        MissingExtraError: matplotlib is not installed.
        SettingsError: nothing was measured.
    """
    rows = report["steps"]
    names = list(dict.fromkeys(row["tokenizer"] for row in rows))
    if not names:
        raise nothing_to_draw("no step was measured")
    figure = new_figure(1.0 + 3.2 * len(names), 3.8)
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        _panel(axes, [row for row in rows if row["tokenizer"] == name])
    panels[0].set_ylabel("added to a step, %")
    panels[0].legend(frameon=False, fontsize=9)
    figure.supxlabel("texts written together", fontsize=10)
    save_figure(figure, file)


def _panel(axes: Any, rows: list[JsonObject]) -> None:
    axes.set_title(f"{rows[0]['vocabulary']:,} ids", fontsize=10, loc="left")
    texts = [row["texts"] for row in rows]
    for way, (colour, marker) in zip(rows[0]["added"], LINE_STYLES, strict=False):
        shares = [100 * row["added"][way] for row in rows]
        axes.plot(texts, shares, color=colour, marker=marker, label=way)
    axes.axhline(2, color="#999999", linewidth=0.8, linestyle="--")
    axes.set_xscale("log", base=4)
    axes.set_xticks(texts, [f"{count:,}" for count in texts])
    axes.minorticks_off()
    clear_frame(axes)
